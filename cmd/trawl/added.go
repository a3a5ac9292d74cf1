package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/ingest"
)

// keepFlag gives a command the flag that keeps what could not be synced.
func keepFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("keep", false, "add a repository even if it cannot be synced now; later syncs try again")
}

// undoWithin is how long an interrupted command may take to undo an addition.
const undoWithin = 10 * time.Second

// addTyped adds the sources of a command line and returns the names of those that
// could be added. Without keep, the new ones among them are removed again if
// their first sync fails.
func (w *worker) addTyped(ctx context.Context, sources []ingest.Source, keep bool) ([]string, error) {
	if keep {
		return w.add(ctx, sources), nil
	}
	asked := make([]string, 0, len(sources))
	for _, src := range sources {
		asked = append(asked, src.Name)
	}
	before, err := w.listed(ctx, asked)
	if err != nil {
		return nil, err
	}
	names := w.add(ctx, sources)
	w.tentative = map[string]bool{}
	for _, name := range names {
		w.tentative[name] = true
	}
	for _, r := range before {
		delete(w.tentative, r.Name)
	}
	return names, nil
}

// listedAlone is how many repositories are asked for one by one, where a server with
// thousands takes longer to list them all.
const listedAlone = 16

// listed returns those repositories of some names that there are, and others if the
// names are many.
func (w *worker) listed(ctx context.Context, names []string) ([]admin.Repository, error) {
	if len(names) > listedAlone {
		return remote.Get(ctx, w.Client, admin.ListRepositories)
	}
	var out []admin.Repository
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		found, err := remote.Get(ctx, w.Client, admin.ListRepositories, "name", name)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// undo removes a repository again that this command added and that was never
// synced. It returns the error of the sync, and what became of the repository.
func (w *worker) undo(ctx context.Context, name string, failed error) error {
	if !w.tentative[name] {
		return failed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	all, err := w.listed(ctx, []string{name})
	if err != nil {
		return fmt.Errorf("%w; it may have been added: %w", failed, err)
	}
	for _, r := range all {
		if r.Name == name && r.Indexed { // by another command, meanwhile
			return failed
		}
	}
	if err := remote.Do(ctx, w.Client, admin.RemoveRepository, "name", name); err != nil && !remote.NotFound(err) {
		return fmt.Errorf("%w; it was added, and could not be removed again: %w", failed, err)
	}
	return fmt.Errorf("%w: it was not added; --keep adds it anyway", failed)
}
