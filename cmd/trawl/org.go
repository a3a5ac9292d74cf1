package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const orgHelp = `Usage: trawl org COMMAND

Org shows and changes organisations: sets of users that repositories can be
opened to. Users and organisations share one set of names.

  trawl org create lab
  trawl org add lab ann bob
  trawl repo readers lab/kiln org:lab`

// orgCommands are the subcommands of trawl org.
type orgCommands struct{ *app }

func (a *app) orgCommand() *cobra.Command {
	c := orgCommands{a}
	cmd := &cobra.Command{Use: "org", Short: "show and change organisations", Long: orgHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(c.create(), c.list(), c.delete(), c.members("add"), c.members("remove"))
	return cmd
}

func (a orgCommands) create() *cobra.Command {
	cmd := &cobra.Command{
		Use: "create", Short: "make an organisation", Args: arguments(1, 1, "the name of an organisation"),
		Long: "Usage: trawl org create [flags] NAME\n\nCreate makes an organisation without members.\n\n  trawl org create lab --display-name 'The Lab'",
	}
	name := cmd.Flags().String("display-name", "", "what people call it")
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		_, err := remote.Call(ctx, w.Client, admin.CreateOrg, admin.Org{Name: args[0], DisplayName: *name})
		return err
	})
}

func (a orgCommands) list() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "show the organisations", Args: arguments(0, 0, "no argument"),
		Long: "Usage: trawl org list [flags]\n\nList shows every organisation and its members.\n\n  trawl org list --json | jq -r .name",
	}
	return a.subcommand(cmd, "print each organisation as one line of JSON", accountSettings, func(ctx context.Context, w *worker, asJSON bool, _ []string) error {
		all, err := remote.Get(ctx, w.Client, admin.ListOrgs)
		if err != nil {
			return err
		}
		if asJSON {
			return printEach(w, all)
		}
		return w.printOrgs(all)
	})
}

func (w *worker) printOrgs(all []admin.Org) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w.stderr, "trawl: there are no organisations")
		return err
	}
	table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tDISPLAY NAME\tMEMBERS")
	for _, o := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\n", o.Name, orDash(print.Line(o.DisplayName)), orDash(strings.Join(o.Members, ",")))
	}
	return table.Flush()
}

func (a orgCommands) delete() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete", Aliases: []string{"rm"}, Short: "delete organisations", Args: arguments(1, -1, "the name of an organisation"),
		Long: "Usage: trawl org delete [flags] NAME...\n\nDelete deletes organisations; their users stay.\n\n  trawl org delete lab",
	}
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		for _, name := range args {
			if err := remote.Do(ctx, w.Client, admin.DeleteOrg, "name", name); err != nil {
				w.fail(ctx, knownOrg(err))
			}
		}
		return w.end(ctx)
	})
}

// orgMembers is the command that adds or removes members.
func (a orgCommands) members(verb string) *cobra.Command {
	cmd := &cobra.Command{
		Use: verb, Short: verb + " members", Args: arguments(2, -1, "the names of an organisation and of users"),
		Long: fmt.Sprintf("Usage: trawl org %s [flags] ORG USER...\n\nWhat an organisation may see its members may from their next request on.\n\n  trawl org %[1]s lab ann bob", verb),
	}
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		do := admin.AddMember
		if verb == "remove" {
			do = admin.RemoveMember
		}
		for _, user := range args[1:] {
			if err := remote.Do(ctx, w.Client, do, "name", args[0], "user", user); err != nil {
				w.fail(ctx, knownOrg(err))
			}
		}
		return w.end(ctx)
	})
}

// knownOrg adds where to look to the error about a name that there is not.
func knownOrg(err error) error {
	if remote.NotFound(err) {
		return fmt.Errorf(`%w: "trawl org list" and "trawl user list" show what there is`, err)
	}
	return err
}

const repoReadersHelp = `Usage: trawl repo readers [flags] [NAME [READER...]]

Readers shows who may see a repository, or says so: everyone, which is the
default; nobody; or a list of user:NAME and org:NAME. Site admins see all, and so
does who has the data directory. For the others the repository does not exist:
searches, counts and suggestions are those of a server without it.

A name in the configuration file stands for the account that had it when the
file was first read with it, whatever that account is called later. Such names
are shown, too; without NAME all of them are. Users cannot take one; an account
that a site admin makes with it is meant from then on. If the account is deleted
its name lets in no other one, until --repin has it stand for the account that
has it now.

  trawl repo readers lab/kiln org:lab user:ann
  trawl repo readers lab/kiln everyone
  trawl repo readers --repin user:ann`

func (a repoCommands) readers() *cobra.Command {
	cmd := &cobra.Command{Use: "readers", Short: "say who may see a repository", Long: repoReadersHelp, Args: cobra.ArbitraryArgs}
	again := cmd.Flags().String("repin", "", "have user:NAME or org:NAME of the configuration file stand for the account that has the name now")
	return a.subcommand(cmd, "", []string{"data", "memory"}, func(ctx context.Context, w *worker, _ bool, args []string) error {
		switch {
		case *again != "":
			return w.repin(ctx, *again, args)
		case len(args) == 0:
			return w.printPins(ctx, "")
		case len(args) > 1:
			_, err := remote.Call(ctx, w.Client, admin.SetReaders, args[1:], "name", args[0])
			return known(err)
		}
		readers, err := remote.Get(ctx, w.Client, admin.ListReaders, "name", args[0])
		if err != nil {
			return known(err)
		}
		if _, err := fmt.Fprintln(w.stdout, strings.Join(readers, " ")); err != nil {
			return err
		}
		return w.printPins(ctx, args[0])
	})
}

// repin has a reader of the configuration file stand for the account that has the
// name now.
func (w *worker) repin(ctx context.Context, reader string, args []string) error {
	if len(args) > 0 {
		return errors.New("--repin takes one reader and no repository: a name stands for the same account everywhere")
	}
	p, err := remote.Call(ctx, w.Client, admin.Repin, admin.Pin{Reader: reader})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.stdout, p.Text)
	return err
}

// printPins shows what the names of the configuration file stand for: those of a
// repository, or all for "".
func (w *worker) printPins(ctx context.Context, repository string) error {
	pins, err := remote.Get(ctx, w.Client, admin.ListPins, "name", repository)
	if err != nil {
		return err
	}
	for _, p := range pins {
		if _, err := fmt.Fprintln(w.stdout, p.Text); err != nil {
			return err
		}
	}
	return nil
}
