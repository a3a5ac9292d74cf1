package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const repoHelp = `Usage: trawl repo COMMAND

Repo shows and changes the repositories that a data directory holds. If a server
has it open, the server is asked.

  trawl repo add https://git.example.org/lab/kiln
  trawl repo list`

// repoCommands are the subcommands of trawl repo.
type repoCommands struct{ *app }

func (a *app) repoCommand() *cobra.Command {
	c := repoCommands{a}
	cmd := &cobra.Command{Use: "repo", Short: "show and change the repositories", Long: repoHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(c.add(), c.list(), c.remove(), c.sync(), c.reindex(), c.set(), c.readers(), c.skipped())
	return cmd
}

// sessionWork is the work of a command with a session.
type sessionWork func(ctx context.Context, w *worker, asJSON bool, args []string) error

// subcommand gives a command its flags and a session while it works.
func (a *app) subcommand(cmd *cobra.Command, jsonHelp string, settings []string, work sessionWork) *cobra.Command {
	resolve := settingFlags(cmd, settings...)
	asJSON := false
	if jsonHelp != "" {
		cmd.Flags().BoolVar(&asJSON, "json", false, jsonHelp)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		set, err := resolve()
		if err != nil {
			return err
		}
		if err := readable(cmd, set.Data); err != nil {
			return err
		}
		// A command without a depth of histories leaves them alone.
		history := slices.Contains(settings, "history-diffs")
		return a.withSession(cmd.Context(), set, history, func(w *worker) error { return work(cmd.Context(), w, asJSON, args) })
	}
	return cmd
}

// readable fails for a command that changes nothing when there is no data
// directory, which opening would make.
func readable(cmd *cobra.Command, data string) error {
	switch cmd.Name() {
	case "status", "check", "list", "skipped":
	default:
		return nil
	}
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no data directory %s: give another --data, or make one with trawl index or trawl serve", data)
	}
	return nil
}

func (a *app) withSession(ctx context.Context, set config.Settings, history bool, f func(*worker) error) (err error) {
	out := a.taskOutput(set)
	s, err := openSession(ctx, set, service.Options{Log: out.log, History: history})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return f(&worker{app: a, session: s, output: out})
}

const repoAddHelp = `Usage: trawl repo add [flags] SOURCE...

Add adds repositories and indexes them, as "trawl index" does. A new repository
that cannot be read, or whose indexing is interrupted, is not added. With --keep it
is: a server tries again each time it syncs, and "trawl repo list" shows the error.

With --readers only some may see what is added: nobody, or user:NAME and
org:NAME, several between commas.

  trawl repo add https://git.example.org/lab/kiln lab/glaze=../glaze
  trawl repo add --readers org:lab,user:ann https://git.example.org/lab/vault`

func (a repoCommands) add() *cobra.Command {
	cmd := &cobra.Command{Use: "add", Short: "add repositories and index them", Long: repoAddHelp, Args: arguments(1, -1, "a path or URL")}
	keep := keepFlag(cmd)
	readers := cmd.Flags().StringSlice("readers", nil, "who may see them: everyone, nobody, or a list of user:NAME and org:NAME")
	return a.subcommand(cmd, "print each repository as one line of JSON", ingestSettings,
		func(ctx context.Context, w *worker, asJSON bool, args []string) error {
			sources, err := parseSources(args)
			if err != nil {
				return err
			}
			names, err := w.addTyped(ctx, sources, *keep)
			if err != nil {
				return err
			}
			for _, name := range names {
				if len(*readers) > 0 {
					w.hide(ctx, name, *readers)
				}
			}
			return w.syncAll(ctx, asJSON, names)
		})
}

const repoSyncHelp = `Usage: trawl repo sync [flags] [NAME...]

Sync brings repositories up to their sources now, all of them if none is named.

  trawl repo sync lab/glaze`

func (a repoCommands) sync() *cobra.Command {
	cmd := &cobra.Command{Use: "sync", Short: "bring repositories up to date", Long: repoSyncHelp, Args: cobra.ArbitraryArgs}
	return a.subcommand(cmd, "print each repository as one line of JSON", ingestSettings,
		func(ctx context.Context, w *worker, asJSON bool, args []string) error {
			if len(args) == 0 {
				all, err := remote.Get(ctx, w.Client, admin.ListRepositories)
				if err != nil {
					return err
				}
				for _, r := range all {
					args = append(args, r.Name)
				}
			}
			return w.syncAll(ctx, asJSON, args)
		})
}

const repoReindexHelp = `Usage: trawl repo reindex [flags] NAME...

Reindex reads all of a repository again from git, its files and their symbols and its
commits, although nothing has changed. Searches go on over the index that is there,
which stays until the new one takes its place. Use it after a repair of the source, or
if you do not trust what is indexed.

Reindexing that fails or is interrupted is done by the next sync.

  trawl repo reindex lab/glaze`

func (a repoCommands) reindex() *cobra.Command {
	cmd := &cobra.Command{Use: "reindex", Short: "read all of repositories again", Long: repoReindexHelp, Args: arguments(1, -1, "the name of a repository")}
	return a.subcommand(cmd, "print each repository as one line of JSON", ingestSettings,
		func(ctx context.Context, w *worker, asJSON bool, args []string) error {
			for _, name := range args {
				w.syncBy(ctx, name, w.Reindex)
			}
			return w.synced(ctx, asJSON, args)
		})
}

// syncAll syncs repositories and, if asked, prints how they are then.
func (w *worker) syncAll(ctx context.Context, asJSON bool, names []string) error {
	for _, name := range names {
		w.sync(ctx, name)
	}
	return w.synced(ctx, asJSON, names)
}

// synced ends a command that has synced repositories and, if asked, prints how they
// are.
func (w *worker) synced(ctx context.Context, asJSON bool, names []string) error {
	if err := w.end(ctx); !asJSON || err != nil && !errors.Is(err, errTold) {
		return err
	}
	all, err := w.listed(ctx, names)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	for _, r := range all {
		if wanted[r.Name] {
			if err := w.printJSON(r); err != nil {
				return err
			}
		}
	}
	return w.end(ctx)
}

const repoRemoveHelp = `Usage: trawl repo remove [flags] NAME...

Remove forgets repositories: their text, their index, and the mirror that was
made of a URL. A repository that was a path is not touched. One that the
configuration file declares comes back at the next start.

  trawl repo remove lab/glaze`

func (a repoCommands) remove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove", Aliases: []string{"rm"}, Short: "forget repositories", Long: repoRemoveHelp, Args: arguments(1, -1, "the name of a repository")}
	return a.subcommand(cmd, "", []string{"data", "memory"},
		func(ctx context.Context, w *worker, _ bool, args []string) error {
			for _, name := range args {
				if err := remote.Do(ctx, w.Client, admin.RemoveRepository, "name", name); err != nil {
					w.fail(ctx, known(err))
				}
			}
			return w.end(ctx)
		})
}

// known adds where to look to the error about a name that there is not.
func known(err error) error {
	if remote.NotFound(err) {
		return fmt.Errorf(`%w: "trawl repo list" shows what there is`, err)
	}
	return err
}
