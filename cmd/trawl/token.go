package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/identity"
)

const tokenHelp = `Usage: trawl token COMMAND

Token makes, shows and revokes access tokens, by which programs search as a user:

  curl -H "Authorization: token $TOKEN" …/.api/search/stream?q=hello
  TRAWL_TOKEN=$TOKEN trawl search --server https://search.example.org hello

With the scope site-admin:sudo the token of a site admin acts as any user.`

// tokenCommands are the subcommands of trawl token.
type tokenCommands struct{ *app }

func (a *app) tokenCommand() *cobra.Command {
	c := tokenCommands{a}
	cmd := &cobra.Command{Use: "token", Short: "make and revoke access tokens", Long: tokenHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(c.create(), c.list(), c.revoke())
	return cmd
}

// tokenSettings are those that making tokens goes by, if no server is asked.
var tokenSettings = []string{"data", "memory", "access-tokens", "access-token-days", "access-tokens-per-user"}

const tokenCreateHelp = `Usage: trawl token create [flags] USER

Create makes an access token for a user and prints it. It is kept nowhere: who
loses it makes another one.

  trawl token create ann --note laptop --days 30`

func (a tokenCommands) create() *cobra.Command {
	cmd := &cobra.Command{Use: "create", Short: "make a token", Long: tokenCreateHelp, Args: needsOne}
	flags := cmd.Flags()
	note := flags.String("note", "", "what it is for")
	scopes := flags.StringArray("scope", []string{identity.ScopeAll}, "what it may do: user:all, and site-admin:sudo besides, or mcp alone for the Model Context Protocol only; may be repeated")
	days := flags.String("days", "", "how many `DAYS` it is good for, or never to let it not expire (default: 90, or the most there may be)")
	return a.subcommand(cmd, "print the token as JSON", tokenSettings, func(ctx context.Context, w *worker, asJSON bool, args []string) error {
		n := admin.NewToken{User: args[0], Scopes: *scopes, Note: *note, Forever: *days == "never"}
		if *days != "" && !n.Forever {
			count, err := strconv.Atoi(*days)
			if err != nil {
				return fmt.Errorf("--days: %q is no number of days, nor never", *days)
			}
			n.Days = &count
		}
		t, err := remote.Call(ctx, w.Client, admin.CreateToken, n)
		if err != nil {
			return knownUser(err)
		}
		if asJSON {
			return w.printJSON(t)
		}
		_, err = fmt.Fprintln(w.stdout, t.Secret)
		return err
	})
}

const tokenListHelp = `Usage: trawl token list [flags] [USER]

List shows the tokens of a user, or of all, that are good: by number, never with
their secret.

  trawl token list ann`

func (a tokenCommands) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "show tokens", Long: tokenListHelp, Args: arguments(0, 1, "the name of a user")}
	return a.subcommand(cmd, "print each token as one line of JSON", []string{"data", "memory"}, func(ctx context.Context, w *worker, asJSON bool, args []string) error {
		all, err := remote.Get(ctx, w.Client, admin.ListTokens, "user", strings.Join(args, ""))
		if err != nil {
			return knownUser(err)
		}
		if asJSON {
			return printEach(w, all)
		}
		return w.printTokens(all, time.Now())
	})
}

func (w *worker) printTokens(all []admin.Token, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w.stderr, "trawl: there are no tokens")
		return err
	}
	table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tUSER\tSCOPES\tCREATED\tUSED\tEXPIRES\tNOTE")
	for _, t := range all {
		expires := "never"
		if !t.Expires.IsZero() {
			expires = t.Expires.Format(time.DateOnly)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.User, strings.Join(t.Scopes, ","), age(t.Created, now), age(t.LastUsed, now),
			expires, orDash(print.Line(t.Note)))
	}
	return table.Flush()
}

const tokenRevokeHelp = `Usage: trawl token revoke [flags] ID...

Revoke ends tokens at once and for good, and the requests at work with them. The
numbers are those of "trawl token list".

  trawl token revoke 7`

func (a tokenCommands) revoke() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke", Short: "end tokens", Long: tokenRevokeHelp, Args: arguments(1, -1, "the number of a token")}
	return a.subcommand(cmd, "", []string{"data", "memory"}, func(ctx context.Context, w *worker, _ bool, args []string) error {
		for _, id := range args {
			err := remote.Do(ctx, w.Client, admin.RevokeToken, "id", id)
			if remote.NotFound(err) {
				err = errors.New("there is no token " + strconv.Quote(id) + ": \"trawl token list\" shows those that are good")
			}
			if err != nil {
				w.fail(ctx, err)
			}
		}
		return w.end(ctx)
	})
}
