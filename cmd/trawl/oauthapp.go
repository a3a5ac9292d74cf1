package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/oauth"
)

const oauthAppHelp = `Usage: trawl oauth-app COMMAND

Oauth-app makes, shows and deletes OAuth apps: programs that ask users whether
they may act for them, and get tokens that end after an hour. The command line
client src is one from the start, so that "src login" needs no token.

  trawl oauth-app create Wiki --redirect https://wiki.example.org/oauth`

// oauthAppCommands are the subcommands of trawl oauth-app.
type oauthAppCommands struct{ *app }

func (a *app) oauthAppCommand() *cobra.Command {
	c := oauthAppCommands{a}
	cmd := &cobra.Command{Use: "oauth-app", Short: "make and delete OAuth apps", Long: oauthAppHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(c.create(), c.list(), c.secret(), c.disable(), c.delete())
	return cmd
}

const oauthAppCreateHelp = `Usage: trawl oauth-app create [flags] NAME

Create makes an app and prints its client ID and, behind that, its secret. The
secret is kept nowhere: who loses it makes another with rotate-secret.

An app is a server that keeps a secret; with --public a program on people's own
machines, which cannot; and with --service a program that acts as that service
account, without asking any user. Users are sent back to one of the redirect URIs,
which are compared to the byte; only the port of http://127.0.0.1 is free.

  trawl oauth-app create Wiki --redirect https://wiki.example.org/oauth
  trawl oauth-app create Editor --public --redirect http://127.0.0.1/done
  trawl oauth-app create Nightly --service ci`

func (a oauthAppCommands) create() *cobra.Command {
	cmd := &cobra.Command{Use: "create", Short: "make an app", Long: oauthAppCreateHelp, Args: arguments(1, 1, "the name of an app")}
	flags := cmd.Flags()
	public := flags.Bool("public", false, "it cannot keep a secret")
	account := flags.String("service", "", "it acts as this service account, `NAME`")
	redirects := flags.StringArray("redirect", nil, "where users are sent back to, a `URI`; may be repeated")
	scopes := flags.StringArray("scope", nil, "what it may ask for; may be repeated (default: "+strings.Join(oauth.Scopes(), ", ")+")")
	id := flags.String("client-id", "", "the `ID` that it shows (default: a new one)")
	return a.subcommand(cmd, "print the app as JSON", accountSettings, func(ctx context.Context, w *worker, asJSON bool, args []string) error {
		n := admin.App{ID: *id, Name: args[0], Kind: oauth.Confidential, Redirects: *redirects, Scopes: *scopes, Account: *account}
		switch {
		case *public && *account != "":
			return errors.New("--public and --service: an app is one or the other")
		case *public:
			n.Kind = oauth.Public
		case *account != "":
			n.Kind = oauth.Service
		}
		made, err := remote.Call(ctx, w.Client, admin.CreateApp, n)
		if err != nil {
			return knownUser(err)
		}
		if asJSON {
			return w.printJSON(made)
		}
		_, err = fmt.Fprintln(w.stdout, strings.TrimSpace(made.ID+" "+made.Secret))
		return err
	})
}

const oauthAppListHelp = `Usage: trawl oauth-app list [flags]

List shows the apps, never with their secret.

  trawl oauth-app list --json`

func (a oauthAppCommands) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "show the apps", Long: oauthAppListHelp, Args: arguments(0, 0, "no argument")}
	return a.subcommand(cmd, "print each app as one line of JSON", accountSettings, func(ctx context.Context, w *worker, asJSON bool, _ []string) error {
		all, err := remote.Get(ctx, w.Client, admin.ListApps)
		if err != nil {
			return err
		}
		if asJSON {
			return printEach(w, all)
		}
		table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "CLIENT ID\tNAME\tIS\tSCOPES\tREDIRECTS")
		for _, a := range all {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", a.ID, print.Line(a.Name), appTraits(a), strings.Join(a.Scopes, ","), orDash(strings.Join(a.Redirects, " ")))
		}
		return table.Flush()
	})
}

func appTraits(a admin.App) string {
	out := []string{string(a.Kind)}
	if a.Account != "" {
		out = append(out, "as "+a.Account)
	}
	if a.BuiltIn {
		out = append(out, "built-in")
	}
	if a.Disabled {
		out = append(out, "disabled")
	}
	return strings.Join(out, ",")
}

const oauthAppSecretHelp = `Usage: trawl oauth-app rotate-secret [flags] CLIENT-ID

Rotate-secret gives an app another secret and prints it. The old one is no good
from then on. Tokens stay.

  trawl oauth-app rotate-secret sgo_cid_3f5c0b6d1e2a49788b90`

func (a oauthAppCommands) secret() *cobra.Command {
	cmd := &cobra.Command{Use: "rotate-secret", Short: "give an app another secret", Long: oauthAppSecretHelp, Args: arguments(1, 1, "a client ID")}
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		made, err := remote.Get(ctx, w.Client, admin.RotateAppSecret, "id", args[0])
		if err != nil {
			return knownApp(err, args[0])
		}
		_, err = fmt.Fprintln(w.stdout, made.Secret)
		return err
	})
}

const oauthAppDisableHelp = `Usage: trawl oauth-app disable [flags] CLIENT-ID

Disable switches an app off: none of its tokens is good, and none is issued, until
it is switched on with --undo.

  trawl oauth-app disable ` + oauth.CommandLine

func (a oauthAppCommands) disable() *cobra.Command {
	cmd := &cobra.Command{Use: "disable", Short: "switch an app off", Long: oauthAppDisableHelp, Args: arguments(1, 1, "a client ID")}
	undo := cmd.Flags().Bool("undo", false, "switch it on again")
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		_, err := remote.Call(ctx, w.Client, admin.ChangeApp, admin.AppChange{Disabled: !*undo}, "id", args[0])
		return knownApp(err, args[0])
	})
}

const oauthAppDeleteHelp = `Usage: trawl oauth-app delete [flags] CLIENT-ID...

Delete deletes apps and ends all their tokens at once and for good.

  trawl oauth-app delete sgo_cid_3f5c0b6d1e2a49788b90`

func (a oauthAppCommands) delete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete", Short: "delete apps", Long: oauthAppDeleteHelp, Args: arguments(1, -1, "a client ID")}
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		for _, id := range args {
			if err := knownApp(remote.Do(ctx, w.Client, admin.DeleteApp, "id", id), id); err != nil {
				w.fail(ctx, err)
			}
		}
		return w.end(ctx)
	})
}

// knownApp adds where to look to the error about an app that there is not.
func knownApp(err error, id string) error {
	if remote.NotFound(err) {
		return errors.New("there is no app " + strconv.Quote(id) + ": \"trawl oauth-app list\" shows those there are")
	}
	return err
}
