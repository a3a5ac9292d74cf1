package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/check"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Checker verifies a data directory and repairs it.
type Checker struct {
	store      *store.Store
	mirrors    *ingest.Mirrors
	background *background
	// sync brings a repository up to its source, renew with a new mirror.
	sync, renew wayToSync
	// searching is how many searches are at work.
	searching func() int
	// declared are the repositories of the configuration file.
	declared []config.Repository
}

var _ admin.Checker = (*Checker)(nil)

// Check verifies the data directory and calls each for every fault. With repair
// it then takes damaged parts out of service and indexes their repositories
// anew; symbols and commits follow as after any sync. It yields to searches.
func (c *Checker) Check(ctx context.Context, quick, repair bool, report func(ingest.Progress), each func(check.Finding) error) error {
	ctx, cancel := c.background.untilStop(ctx)
	defer cancel()
	end := c.background.busy.begin()
	findings, err := c.check(ctx, quick, report, each)
	end()
	if err != nil || !repair || len(findings) == 0 {
		return err
	}
	names, err := check.Prepare(c.store, findings, time.Now())
	if err != nil {
		return err
	}
	return c.repair(ctx, names, check.Mirrors(findings), report)
}

// repair syncs repositories, some of them with a new mirror. One that cannot be
// reached keeps no other from being repaired.
func (c *Checker) repair(ctx context.Context, names, mirrors []string, report func(ingest.Progress)) error {
	var errs []error
	for _, name := range mirrors {
		_, err := c.renew(ctx, name, report)
		errs = append(errs, err)
	}
	for _, name := range names {
		if !slices.Contains(mirrors, name) && ctx.Err() == nil {
			_, err := c.sync(ctx, name, report)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c *Checker) check(ctx context.Context, quick bool, report func(ingest.Progress), each func(check.Finding) error) (findings []check.Finding, err error) {
	shown := int64(-1)
	o := check.Options{Quick: quick, Pause: c.letSearch, Source: c.sourceOf, Report: func(done, total int64) {
		if step := done * 200 / max(total, 1); step != shown {
			shown = step
			report(ingest.Progress{Phase: "check", Done: int(done), Total: int(total)})
		}
	}}
	o.Mirror = func(ctx context.Context, r *store.Repository, fault func(string)) error {
		return c.mirrors.Verify(ctx, r, quick, fault)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = check.Store(ctx, c.store, o, func(f check.Finding) {
		findings = append(findings, f)
		if told := each(f); told != nil {
			cancel() // no caller listens any more
		}
	})
	return findings, err
}

// Work that can wait lets searches go first, but is never kept from going on for
// longer than this.
const (
	letSearchFor   = 100 * time.Millisecond
	letSearchEvery = 5 * time.Millisecond
)

// letSearch waits while searches are at work, within bounds.
func (c *Checker) letSearch(ctx context.Context) error {
	for waited := time.Duration(0); c.searching() > 0 && waited < letSearchFor; waited += letSearchEvery {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(letSearchEvery):
		}
	}
	return ctx.Err()
}

// sourceOf finds where a repository can be fetched from whose record cannot be
// read: in the configuration file, else in its mirror. One that is declared is
// known by its name or its source, since one of them may be what is damaged.
func (c *Checker) sourceOf(lost store.LostRepository) (store.Repository, bool) {
	mirror := c.store.GitDirs().Dir(&store.Repository{ID: lost.ID, Mirror: true})
	origin, err := git.Origin(context.Background(), mirror)
	mirrored := err == nil && origin != ""
	for _, d := range c.declared {
		if src := d.Source; src.Name == lost.Name || src.Location == lost.Source || mirrored && src.Location == origin {
			return store.Repository{Name: src.Name, Source: src.Location, Mirror: src.Remote}, true
		}
	}
	if !mirrored {
		return store.Repository{}, false
	}
	name := lost.Name
	if name == "" {
		name = fmt.Sprintf("recovered/%d", lost.ID)
	}
	// It is unknown whether the source was named over the API, so it is
	// guarded.
	return store.Repository{Name: name, Source: origin, Mirror: true, Guarded: true}, true
}
