package manage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
)

// Repositories is what operations on repositories act on.
type Repositories interface {
	List(ctx context.Context) ([]*store.Repository, error)
	// Add records a source as ingest.ParseSource reads it.
	Add(ctx context.Context, source string) (*store.Repository, error)
	// AddNamed records a source that a site admin named, who need not know the
	// machine of the server: what it reaches is guarded. Its errors are for them.
	AddNamed(ctx context.Context, source string) (*store.Repository, error)
	// Syncing returns the syncs at work.
	Syncing() []Syncing
	// LastSync returns what is known of the last sync of a repository.
	LastSync(ctx context.Context, r *store.Repository) LastSync
	Remove(ctx context.Context, name string) error
	// ChangeFacts changes what is known about a repository.
	ChangeFacts(ctx context.Context, name string, c store.FactsChange) (*store.Repository, error)
	// Refresh has a repository synced soon, out of turn.
	Refresh(name string)
	// Reindex marks a repository, whose next sync reads all of it again.
	Reindex(name string) error
}

// Syncing is a sync at work.
type Syncing struct {
	Name string
	// Since is when it began.
	Since time.Time
	// Phase is that of ingest.Progress; Done of Total are counted in some.
	Phase       string
	Done, Total int
}

// onRepository makes a change of repositories, for site admins, and writes what was
// done to the audit log.
func onRepository(o *Operations, action string, change func() (name, detail string, err error)) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	name, detail, err := change()
	if err != nil || o.Registry == nil {
		return err
	}
	return o.Registry.Log(o.by(), action, "repository:"+name, detail)
}

// AddRepository records a source as a repository, for the operator.
func (o *Operations) AddRepository(ctx context.Context, source string) (r *store.Repository, err error) {
	return addRepository(o, ctx, source, o.Repositories.Add)
}

// AddNamedRepository records a source that a site admin named, and has it synced
// soon.
func (o *Operations) AddNamedRepository(ctx context.Context, source string) (r *store.Repository, err error) {
	r, err = addRepository(o, ctx, source, func(ctx context.Context, source string) (*store.Repository, error) {
		r, err := o.Repositories.AddNamed(ctx, source)
		if err != nil && !errors.Is(err, store.ErrExists) {
			err = refuse("%s", redact.Text(err.Error()))
		}
		return r, err
	})
	if err == nil {
		o.Repositories.Refresh(r.Name)
	}
	return r, err
}

func addRepository(o *Operations, ctx context.Context, source string, add func(context.Context, string) (*store.Repository, error)) (r *store.Repository, err error) {
	err = onRepository(o, "repository.add", func() (string, string, error) {
		if r, err = add(ctx, source); err != nil {
			return "", "", err
		}
		return r.Name, redact.URL(r.Source), nil
	})
	return r, err
}

// RemoveRepository forgets a repository. One that an external service has comes
// back with its next sync, unless that has dropped it.
func (o *Operations) RemoveRepository(ctx context.Context, name string) error {
	return onRepository(o, "repository.remove", func() (string, string, error) {
		return name, "", o.Repositories.Remove(ctx, name)
	})
}

// ChangeFacts changes what is known about a repository.
func (o *Operations) ChangeFacts(ctx context.Context, name string, c store.FactsChange) (r *store.Repository, err error) {
	err = onRepository(o, "repository.facts", func() (string, string, error) {
		if err := checkFacts(name, c); err != nil {
			return "", "", err
		}
		r, err = o.Repositories.ChangeFacts(ctx, name, c)
		return name, "", err
	})
	return r, err
}

func checkFacts(name string, c store.FactsChange) error {
	if err := c.Check(); err != nil {
		return refuse("repository %q: %s", name, err)
	}
	return nil
}

// EditFacts changes what is known about a repository as a person fills it in, who is
// told what would not last: a code host says most facts again with each sync.
func (o *Operations) EditFacts(ctx context.Context, r *store.Repository, c store.FactsChange) error {
	rest := c
	rest.Branches, rest.Metadata, rest.RemoveMetadata, rest.ClearMetadata = nil, nil, nil, false
	if r.Origin != nil && !rest.Empty() {
		return refuse("a code host keeps this repository: change its facts there")
	}
	_, err := o.ChangeFacts(ctx, r.Name, c)
	return err
}

// SetReaders says who may see a repository, in texts as identity reads them.
func (o *Operations) SetReaders(r *store.Repository, texts []string) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	// The registry reads them again: an error of that is one about the repository.
	if _, err := o.Registry.ParseReaders(texts); isNotFound(err) {
		return refuse("%s", err)
	} else if err != nil {
		return err
	}
	_, err := o.Registry.SetReaders(o.by(), r.Name, texts)
	return err
}

// PutMetadata adds a key that a repository does not have or, with there, changes
// one that it has.
func (o *Operations) PutMetadata(ctx context.Context, r *store.Repository, key string, value *string, there bool) error {
	return changeMetadata(o, ctx, r, key, store.FactsChange{Metadata: map[string]*string{key: value}}, func(has bool) error {
		switch {
		case key == "":
			return refuse("the key is empty")
		case has && !there:
			return refuse("the repository has the key %q already: update it", key)
		case !has && there:
			return refuse("the repository has no key %q: add it", key)
		}
		return nil
	})
}

// RemoveMetadata takes a key away, whatever its value.
func (o *Operations) RemoveMetadata(ctx context.Context, r *store.Repository, key string) error {
	return changeMetadata(o, ctx, r, key, store.FactsChange{RemoveMetadata: []string{key}}, func(has bool) error {
		if !has {
			return refuse("the repository has no key %q", key)
		}
		return nil
	})
}

func changeMetadata(o *Operations, ctx context.Context, r *store.Repository, key string, c store.FactsChange, check func(has bool) error) error {
	return onRepository(o, "repository.metadata", func() (string, string, error) {
		_, has := r.Metadata[key]
		err := check(has)
		if err == nil {
			err = checkFacts(r.Name, c)
		}
		if err == nil {
			_, err = o.Repositories.ChangeFacts(ctx, r.Name, c)
		}
		return r.Name, key, err
	})
}

// MarkForReindex has the next sync of a repository read all of it again.
func (o *Operations) MarkForReindex(name string) error {
	return onRepository(o, "repository.reindex", func() (string, string, error) { return name, "", o.Repositories.Reindex(name) })
}

// ReindexRepository has a repository synced soon, and all of it read again.
func (o *Operations) ReindexRepository(name string) error {
	err := o.MarkForReindex(name)
	if err == nil {
		o.Repositories.Refresh(name)
	}
	return err
}

// SyncRepository has a repository synced soon.
func (o *Operations) SyncRepository(ctx context.Context, name string) error {
	err := onRepository(o, "repository.sync", func() (string, string, error) {
		all, err := o.Repositories.List(ctx)
		if err == nil && !slices.ContainsFunc(all, func(r *store.Repository) bool { return r.Name == name }) {
			err = notFound("there is no such repository")
		}
		return name, "", err
	})
	if err == nil {
		o.Repositories.Refresh(name)
	}
	return err
}
