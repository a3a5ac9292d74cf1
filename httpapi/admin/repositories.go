package admin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// Repositories is what the routes about repositories act on.
type Repositories interface {
	manage.Repositories
	// Sync calls report, which is not nil, from one goroutine.
	Sync(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error)
	// Skipped calls each with every document whose content is not searched.
	Skipped(ctx context.Context, name string, each func(path, reason string, bytes int64) error) error
}

func (h *Handlers) repositoryRoutes() []httpapi.Route {
	return []httpapi.Route{
		answer(h, ListRepositories, func(c *call, _ None) ([]Repository, error) {
			all, err := c.repos.List(c.r.Context())
			if name := c.r.URL.Query().Get("name"); name != "" {
				all = slices.DeleteFunc(all, func(r *store.Repository) bool { return r.Name != name })
			}
			return each(all, err, func(r *store.Repository) (Repository, error) { return newRepository(r), nil })
		}),
		answer(h, AddRepository, func(c *call, in Add) (Repository, error) {
			r, err := c.AddRepository(c.r.Context(), in.Source)
			return sent(r, err, newRepository)
		}),
		answer(h, RemoveRepository, onParameter("name", func(c *call, name string, _ None) (None, error) {
			return None{}, c.RemoveRepository(c.r.Context(), name)
		})),
		answer(h, ChangeFacts, onParameter("name", func(c *call, name string, in Facts) (Repository, error) {
			r, err := c.ChangeFacts(c.r.Context(), name, in.change())
			return sent(r, err, newRepository)
		})),
		answerLines(h, SyncRepository, syncRepository),
		answerLines(h, Reindex, reindexRepository),
		answerLines(h, ListSkipped, listSkipped),
	}
}

// readerRoutes are about who may see a repository.
func (h *Handlers) readerRoutes() []httpapi.Route {
	return []httpapi.Route{
		answer(h, ListReaders, onParameter("name", func(c *call, name string, _ None) ([]string, error) {
			all, err := c.repos.List(c.r.Context())
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(all, func(r *store.Repository) bool { return r.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("repository %q: %w", name, store.ErrNotFound)
			}
			return c.Registry.FormatReaders(all[i].Readers)
		})),
		answer(h, SetReaders, onParameter("name", func(c *call, name string, readers []string) ([]string, error) {
			r, err := c.Registry.SetReaders(c.Actor.Author(), name, readers)
			if err != nil {
				return nil, err
			}
			return c.Registry.FormatReaders(r.Readers)
		})),
		answer(h, ListPins, func(c *call, _ None) ([]Pin, error) {
			pins, err := c.Registry.Pins(c.r.URL.Query().Get("name"))
			return each(pins, err, newPin)
		}),
		// The readers as the configuration file names them.
		answer(h, DeclareReaders, onParameter("name", func(c *call, name string, readers []string) ([]Pin, error) {
			pins, err := c.Registry.DeclareReaders(c.Actor.Author(), name, readers)
			return each(pins, err, newPin)
		})),
		// The reader stands for the account that has the name now.
		answer(h, Repin, func(c *call, in Pin) (Pin, error) {
			p, err := c.Registry.Repin(c.Actor.Author(), in.Reader)
			if err != nil {
				return Pin{}, err
			}
			return newPin(p)
		}),
	}
}

func syncRepository(c *call, _ None, send func(Line) error) (Result, error) {
	name, err := c.parameter("name")
	if err != nil {
		return Result{}, err
	}
	res, err := c.repos.Sync(c.r.Context(), name, reportTo(send))
	return newResult(res), err
}

// reindexRepository marks a repository and syncs it. If that ends before its time, the
// mark stays for the next sync.
func reindexRepository(c *call, in None, send func(Line) error) (Result, error) {
	name, err := c.parameter("name")
	if err == nil {
		err = c.MarkForReindex(name)
	}
	if err != nil {
		return Result{}, err
	}
	return syncRepository(c, in, send)
}

// reportTo sends reports of progress.
func reportTo(send func(Line) error) func(ingest.Progress) {
	return func(p ingest.Progress) {
		_ = send(Line{Progress: &Progress{p.Phase, redact.Text(p.Note), p.Done, p.Total, p.Bytes}})
	}
}

func listSkipped(c *call, _ None, send func(Line) error) (Result, error) {
	name, err := c.parameter("name")
	if err != nil {
		return Result{}, err
	}
	return Result{}, c.repos.Skipped(c.r.Context(), name, func(path, reason string, bytes int64) error {
		return send(Line{Skipped: &Skipped{path, reason, bytes}})
	})
}

// Pin is a reader that the configuration file names, and what it stands for.
type Pin struct {
	// Reader is user:NAME or org:NAME.
	Reader string `json:"reader"`
	// State is "in force", "waiting" or "deleted".
	State string `json:"state"`
	// Account is the ID of the user or organisation, Now what it is called.
	Account uint32    `json:"account,omitempty"`
	Now     string    `json:"now,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Text says it in words.
	Text string `json:"text"`
}

// InForce reports whether the reader lets an account in.
func (p Pin) InForce() bool { return p.State == string(identity.PinInForce) }

func newPin(p identity.Pin) (Pin, error) {
	return Pin{Reader: p.Reader, State: string(p.State), Account: p.ID, Now: p.Now, Since: p.Since, Text: p.String()}, nil
}
