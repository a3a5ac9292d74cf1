package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const userHelp = `Usage: trawl user COMMAND

User shows and changes who may use the server of a data directory. Once there is
a user, searches over HTTP need a token or a session; commands that have the data
directory do not. If a server has it open, the server is asked, and what changes
holds at once.

  trawl user create ann --email ann@example.org --admin
  trawl user list`

// accountSettings are the settings that commands about users take as flags.
var accountSettings = []string{"data", "memory", "listen", "external-url"}

// userCommands are the subcommands of trawl user.
type userCommands struct{ *app }

func (a *app) userCommand() *cobra.Command {
	c := userCommands{a}
	cmd := &cobra.Command{Use: "user", Short: "show and change who may use the server", Long: userHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(c.create(), c.list(), c.delete(), c.setAdmin(), c.lock(), c.reset())
	return cmd
}

// needsOne accepts the name of a user.
var needsOne = arguments(1, 1, "the name of a user")

const userCreateHelp = `Usage: trawl user create [flags] NAME

Create makes a user and prints a link by which they choose a password, good once
and for a day. With --password-stdin the password is the first line of the
standard input. A service account has no password and cannot sign in:
"trawl token create" makes a token for it.

  trawl user create ann --email ann@example.org --admin
  trawl user create ci --service`

func (a userCommands) create() *cobra.Command {
	cmd := &cobra.Command{Use: "create", Short: "make a user", Long: userCreateHelp, Args: needsOne}
	var n admin.NewUser
	flags := cmd.Flags()
	flags.StringVar(&n.DisplayName, "display-name", "", "what people call them")
	flags.StringVar(&n.Email, "email", "", "their e-mail address, by which they can sign in, too")
	flags.BoolVar(&n.SiteAdmin, "admin", false, "let them administer the server")
	flags.BoolVar(&n.Service, "service", false, "make an account for a program")
	fromStdin := passwordFlag(cmd)
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) (err error) {
		if n.Service && *fromStdin {
			return errors.New("a service account has no password: leave out --password-stdin")
		}
		n.Name = args[0]
		if n.Password, err = readPassword(cmd, *fromStdin); err != nil {
			return err
		}
		link, err := remote.Call(ctx, w.Client, admin.CreateUser, n)
		if err != nil {
			return err
		}
		return w.printLink(link)
	})
}

func passwordFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("password-stdin", false, "read the password from the standard input")
}

// mostPasswordLine is far above the longest password.
const mostPasswordLine = 1 << 16

// readPassword reads the first line of the standard input, if it is to.
func readPassword(cmd *cobra.Command, fromStdin bool) (string, error) {
	if !fromStdin {
		return "", nil
	}
	line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), mostPasswordLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", errors.New("the standard input holds no password")
	}
	return line, nil
}

// printLink prints where a user chooses a password, if they are to.
func (w *worker) printLink(link admin.Link) error {
	if link.Path == "" {
		return nil
	}
	_, err := fmt.Fprintln(w.stdout, w.public+link.Path)
	return err
}

const userListHelp = `Usage: trawl user list [flags]

List shows every user: what they may do, their organisations, their address, and
when they were last seen.

  trawl user list --json | jq -r 'select(.siteAdmin) | .name'`

func (a userCommands) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "show the users", Long: userListHelp, Args: arguments(0, 0, "no argument")}
	return a.subcommand(cmd, "print each user as one line of JSON", accountSettings, func(ctx context.Context, w *worker, asJSON bool, _ []string) error {
		all, err := remote.Get(ctx, w.Client, admin.ListUsers)
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b admin.User) int { return cmp.Compare(a.Name, b.Name) })
		if asJSON {
			return printEach(w, all)
		}
		return w.printUsers(all, time.Now())
	})
}

func printEach[T any](w *worker, all []T) error {
	for _, v := range all {
		if err := w.printJSON(v); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) printUsers(all []admin.User, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w.stderr, "trawl: there are no users yet: make one with trawl user create NAME --admin")
		return err
	}
	table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tIS\tORGANIZATIONS\tADDRESS\tACTIVE")
	for _, u := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", u.Name, orDash(userTraits(u)), orDash(strings.Join(u.Organizations, ",")),
			orDash(primaryAddress(u)), age(u.LastActive, now))
	}
	return table.Flush()
}

func userTraits(u admin.User) string {
	var out []string
	for _, t := range []struct {
		is   bool
		name string
	}{{u.SiteAdmin, "admin"}, {u.Service, "service"}, {u.Locked, "locked"}, {!u.HasPassword && !u.Service, "no-password"}} {
		if t.is {
			out = append(out, t.name)
		}
	}
	return strings.Join(out, ",")
}

func primaryAddress(u admin.User) string {
	for _, e := range u.Emails {
		if e.Primary {
			return print.Line(e.Address)
		}
	}
	return ""
}

const userDeleteHelp = `Usage: trawl user delete [flags] NAME...

Delete deletes users with their tokens, sessions and memberships. It cannot be
undone; "trawl user lock" can.

  trawl user delete ann`

func (a userCommands) delete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete", Aliases: []string{"rm"}, Short: "delete users", Long: userDeleteHelp, Args: arguments(1, -1, "the name of a user")}
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		for _, name := range args {
			if err := remote.Do(ctx, w.Client, admin.DeleteUser, "name", name); err != nil {
				w.fail(ctx, knownUser(err))
			}
		}
		return w.end(ctx)
	})
}

// knownUser adds where to look to the error about a name that there is not.
func knownUser(err error) error {
	if remote.NotFound(err) {
		return fmt.Errorf(`%w: "trawl user list" shows who there is`, err)
	}
	return err
}

const userSetAdminHelp = `Usage: trawl user set-admin [flags] NAME

Set-admin lets a user administer the server, or with --revoke does not any more.

  trawl user set-admin ann`

func (a userCommands) setAdmin() *cobra.Command {
	cmd := &cobra.Command{Use: "set-admin", Short: "let a user administer the server", Long: userSetAdminHelp, Args: needsOne}
	revoke := cmd.Flags().Bool("revoke", false, "take it back")
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		may := !*revoke
		_, err := remote.Call(ctx, w.Client, admin.ChangeUser, admin.UserChange{SiteAdmin: &may}, "name", args[0])
		return knownUser(err)
	})
}

const userLockHelp = `Usage: trawl user lock [flags] NAME

Lock refuses all tokens and sessions of a user from now on; with --undo tokens
work again, and the user can sign in.

  trawl user lock ann`

func (a userCommands) lock() *cobra.Command {
	cmd := &cobra.Command{Use: "lock", Short: "refuse a user's tokens and sessions", Long: userLockHelp, Args: needsOne}
	undo := cmd.Flags().Bool("undo", false, "let them in again")
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		locked := !*undo
		_, err := remote.Call(ctx, w.Client, admin.ChangeUser, admin.UserChange{Locked: &locked}, "name", args[0])
		return knownUser(err)
	})
}

const userResetHelp = `Usage: trawl user reset-password [flags] NAME

Reset-password takes a user's password away, ends their sessions and prints a
link by which they choose a new one, good once and for a day. With
--password-stdin the new password is the first line of the standard input.

  trawl user reset-password ann`

func (a userCommands) reset() *cobra.Command {
	cmd := &cobra.Command{Use: "reset-password", Short: "let a user choose a new password", Long: userResetHelp, Args: needsOne}
	fromStdin := passwordFlag(cmd)
	return a.subcommand(cmd, "", accountSettings, func(ctx context.Context, w *worker, _ bool, args []string) error {
		password, err := readPassword(cmd, *fromStdin)
		if err != nil {
			return err
		}
		link, err := remote.Call(ctx, w.Client, admin.SetPassword, admin.Password{Password: password}, "name", args[0])
		if err != nil {
			return knownUser(err)
		}
		return w.printLink(link)
	})
}
