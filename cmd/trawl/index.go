package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
)

const indexHelp = `Usage: trawl index [flags] [SOURCE...]

Index adds repositories, brings them up to date and ends. A source is a path or
a URL; with NAME= in front the repository is called that, otherwise a path is
called after its last element and a URL after its host and path. Only what
changed since the last time is read. Without a source, all repositories that are
known or declared in the configuration file are brought up to date, or, when
there are none, the one of the current directory is added. Code hosts in that
file are asked by trawl serve.

When all texts can be searched, their symbols are read, for type:symbol; that
needs universal-ctags. --symbols=false leaves them for later. Then come messages
and diffs of the commits, for type:commit and type:diff.

A source that fails does not keep the others from being done; the exit status is
then 2. A new source that fails or is interrupted is not added, unless --keep says
so. If a server has the data directory open, it does the work.

  trawl index . https://git.example.org/lab/kiln lab/glaze=../glaze`

func (a *app) indexCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "index", Short: "add repositories and bring them up to date", Long: indexHelp, Args: cobra.ArbitraryArgs}
	settings := settingFlags(cmd, ingestSettings...)
	keep := keepFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := settings()
		if err != nil {
			return err
		}
		return a.index(cmd.Context(), set, *keep, args)
	}
	return cmd
}

func (a *app) index(ctx context.Context, set config.Settings, keep bool, args []string) (err error) {
	sources, err := parseSources(args)
	if err != nil {
		return err
	}
	out := a.taskOutput(set)
	s, err := openSession(ctx, set, service.Options{Log: out.log, Symbols: true, History: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.local != nil {
		warnSymbols(out.log, s.local)
	}
	w := &worker{app: a, session: s, output: out}
	names, err := w.names(ctx, set, sources, keep)
	if err != nil {
		return err
	}
	w.mergeBeside(ctx, func() { w.syncEach(ctx, names) })
	return w.end(ctx)
}

// indexedAtOnce is how many syncs the command has at work, most of which wait for
// their group.
const indexedAtOnce = 256

// syncEach brings repositories up to date, beginning with them in their order.
// Small ones are read side by side and written together.
func (w *worker) syncEach(ctx context.Context, names []string) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, indexedAtOnce)
	for _, name := range names {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			w.sync(ctx, name)
		})
	}
}

// worker adds and syncs repositories, and goes on after a failure.
type worker struct {
	*app
	*session
	output
	failed atomic.Bool
	// tentative are the repositories that are removed if their first sync fails.
	tentative map[string]bool
}

// names adds the sources and returns what is to be synced.
func (w *worker) names(ctx context.Context, set config.Settings, sources []ingest.Source, keep bool) ([]string, error) {
	if len(sources) > 0 {
		return w.addTyped(ctx, sources, keep)
	}
	for _, r := range set.Repositories {
		w.declare(ctx, r)
	}
	all, err := remote.Get(ctx, w.Client, admin.ListRepositories)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && !w.failed.Load() {
		if len(set.CodeHosts) > 0 {
			return nil, errors.New("there is nothing to index yet: trawl serve asks the code hosts of the configuration file for their repositories")
		}
		src, ok := currentRepository(ctx)
		if !ok {
			return nil, errors.New("there is nothing to index: name a path or URL, as in trawl index ../kiln")
		}
		return w.addTyped(ctx, []ingest.Source{src}, keep)
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	return names, nil
}

// add adds sources and returns the names of those that could be.
func (w *worker) add(ctx context.Context, sources []ingest.Source) []string {
	var names []string
	for _, src := range sources {
		r, err := remote.Call(ctx, w.Client, admin.AddRepository, admin.Add{Source: typed(src)})
		if err != nil {
			w.fail(ctx, err)
			continue
		}
		names = append(names, r.Name)
	}
	return names
}

// declare adds a repository of the configuration file, with its facts.
func (w *worker) declare(ctx context.Context, r config.Repository) {
	if len(w.add(ctx, []ingest.Source{r.Source})) == 0 {
		return
	}
	if r.Readers != nil {
		w.declareReaders(ctx, r.Source.Name, r.Readers)
	}
	if r.Facts.Empty() {
		return
	}
	if _, err := remote.Call(ctx, w.Client, admin.ChangeFacts, admin.NewFacts(r.Facts), "name", r.Source.Name); err != nil {
		w.fail(ctx, err)
	}
}

// declareReaders sets the readers of a repository of the configuration file.
func (w *worker) declareReaders(ctx context.Context, name string, readers []string) {
	pins, err := remote.Call(ctx, w.Client, admin.DeclareReaders, readers, "name", name)
	if err != nil {
		w.fail(ctx, fmt.Errorf("%s: nobody may see it yet: %w", name, err))
	}
	for _, p := range pins {
		if !p.InForce() {
			fmt.Fprintf(w.stderr, "trawl: %s: readers: %s\n", name, p.Text)
		}
	}
}

// hide sets the readers of a repository. If that fails it has none: a private
// repository must not show.
func (w *worker) hide(ctx context.Context, name string, readers []string) {
	if now, err := remote.Get(ctx, w.Client, admin.ListReaders, "name", name); err == nil && sameReaders(now, readers) {
		return
	}
	_, err := remote.Call(ctx, w.Client, admin.SetReaders, readers, "name", name)
	if err == nil {
		return
	}
	w.fail(ctx, fmt.Errorf("%s: nobody may see it yet: %w", name, err))
	if _, err := remote.Call(ctx, w.Client, admin.SetReaders, []string{identity.Nobody}, "name", name); err != nil {
		w.fail(ctx, err)
	}
}

// fail reports an error, unless it is that the command was interrupted.
func (w *worker) fail(ctx context.Context, err error) {
	w.failed.Store(true)
	if ctx.Err() == nil {
		complain(w.display, err)
	}
}

// sync brings one repository up to date.
func (w *worker) sync(ctx context.Context, name string) { w.syncBy(ctx, name, w.Sync) }

// syncBy is sync by Sync or Reindex of the client.
func (w *worker) syncBy(ctx context.Context, name string, by func(context.Context, string, func(admin.Progress)) (admin.Result, error)) {
	if err := ctx.Err(); err != nil {
		w.fail(ctx, w.undo(ctx, name, err))
		return
	}
	task := w.display.Start(name)
	res, err := by(ctx, name, func(p admin.Progress) {
		task.Report(ingest.Progress{Phase: p.Phase, Note: p.Note, Done: p.Done, Total: p.Total, Bytes: p.Bytes})
	})
	if err != nil {
		err = w.undo(ctx, name, err)
		task.Fail(err)
		w.fail(ctx, err)
		return
	}
	sum := progress.Summary{Added: res.Added, Removed: res.Removed, Took: time.Duration(res.TookMillis) * time.Millisecond}
	if r := res.Repository; r != nil {
		sum.Documents, sum.TextBytes = r.Documents, r.TextBytes
		if r.BranchesLeftOut > 0 {
			w.log.Warn().Str("repo", r.Name).Int("left_out", r.BranchesLeftOut).Msg(service.TooManyBranches)
		}
	}
	task.Done(sum)
}

// merge merges what is worth it; a server does that itself.
func (w *worker) merge(ctx context.Context) {
	if w.local == nil {
		return
	}
	if _, err := w.local.Upkeep().Merge(ctx, func(ingest.Progress) {}); err != nil {
		w.fail(ctx, err)
	}
}

// mergeBeside calls f and merges meanwhile.
func (w *worker) mergeBeside(ctx context.Context, f func()) {
	ctx, end := context.WithCancel(ctx)
	var merging sync.WaitGroup
	if w.local != nil {
		merging.Go(func() { w.local.Upkeep().KeepMerged(ctx) })
	}
	f()
	end()
	merging.Wait()
}

// end merges what many syncs left in small pieces and reads symbols and commits
// of what is new; a server does that itself.
func (w *worker) end(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	w.merge(ctx)
	w.symbols(ctx)
	w.mergeBeside(ctx, func() { w.history(ctx) })
	w.merge(ctx)
	if w.failed.Load() {
		return errTold
	}
	return nil
}
