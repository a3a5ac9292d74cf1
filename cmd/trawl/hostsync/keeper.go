package hostsync

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/oidc"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// Keeper asks external services. Its fields are set before it is used. It is safe for
// concurrent use, but for two syncs of the same service at once.
type Keeper struct {
	Store   *store.Store
	Book    *saved.Book
	Clients *hosts.Clients
	// Registry has the users that accounts of hosts are; Providers are the other services
	// at which they sign in.
	Registry  *identity.Registry
	Providers []oidc.Provider
	Log       zerolog.Logger
	// Now is the clock.
	Now func() time.Time

	// Add records a source, Remove forgets a repository by its name, and Refresh has one
	// synced soon.
	Add     func(ctx context.Context, src ingest.Source) (*store.Repository, error)
	Remove  func(ctx context.Context, name string) error
	Refresh func(name string)

	// grace is for how long what vanished is kept, in nanoseconds.
	grace    atomic.Int64
	declared declared

	permitsMu sync.Mutex // guards permits; held while a host is asked
	permits   permits
}

// SetGrace sets for how long what vanished is kept.
func (k *Keeper) SetGrace(d time.Duration) { k.grace.Store(int64(d)) }

// Config returns the configuration of a service with its secrets.
func (k *Keeper) Config(v *saved.Service) (*hosts.Config, error) {
	text, err := k.Book.Services.FullConfig(v)
	if v.Declared != "" {
		text, err = k.declared.config(v.Declared)
	}
	if err != nil {
		return nil, err
	}
	if v.Declared != "" {
		return hosts.ParseDeclared(v.Kind, text)
	}
	return hosts.ParseConfig(v.Kind, text)
}

// Credentials returns by what git signs in for a repository that a service lists.
func (k *Keeper) Credentials(r *store.Repository) *url.Userinfo {
	if r.Origin != nil {
		v, err := k.Book.Services.Get(r.Origin.Service)
		if err != nil {
			return nil
		}
		return k.login(v, r.Source)
	}
	all, err := k.Book.Services.All()
	if err != nil {
		return nil
	}
	for _, v := range all {
		if _, has := slices.BinarySearch(v.Repositories, r.ID); has {
			if login := k.login(v, r.Source); login != nil {
				return login
			}
		}
	}
	return nil
}

func (k *Keeper) login(v *saved.Service, source string) *url.Userinfo {
	config, err := k.Config(v)
	if err != nil {
		return nil // Sync says why
	}
	return config.Git(source)
}

// Sync brings the repositories of a service in step with what it has.
func (k *Keeper) Sync(ctx context.Context, v *saved.Service) error {
	p, err := k.Preview(ctx, v)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return errors.Join(err, k.note(v.ID, func(v *saved.Service) { v.LastError = redact.Text(err.Error()) }))
	}
	return k.apply(ctx, v, p)
}

// Preview returns what Sync would do. The service need not be one of the book.
func (k *Keeper) Preview(ctx context.Context, v *saved.Service) (*Plan, error) {
	config, err := k.Config(v)
	if err != nil {
		return nil, err
	}
	s, err := k.situation(v, config)
	if err != nil {
		return nil, err
	}
	list, err := config.List(ctx, k.Clients, v.ID, s)
	if err != nil {
		return nil, err
	}
	if len(list.Failed) == 0 && slices.ContainsFunc(s.missing(&list), func(r *store.Repository) bool { return r.Origin != nil && !r.IsGone() && !r.Named }) {
		// The list of a host may have changed while its pages were read, so that none had
		// a repository that is there.
		again, err := config.List(ctx, k.Clients, v.ID, s)
		if err != nil {
			return nil, err
		}
		list = union(again, list)
	}
	// What there is may have changed while the host was asked.
	if s, err = k.situation(v, config); err != nil {
		return nil, err
	}
	return s.plan(&list), nil
}

func (k *Keeper) situation(v *saved.Service, config *hosts.Config) (*situation, error) {
	services, err := k.Book.Services.All()
	if err != nil {
		return nil, err
	}
	sn := k.Store.Snapshot()
	all := sn.Repositories()
	if err := sn.Close(); err != nil {
		return nil, err
	}
	return newSituation(v, config, all, services, k.Now(), time.Duration(k.grace.Load())), nil
}

// union returns a listing with those repositories of an earlier one that it lacks.
func union(list, earlier hosts.Listing) hosts.Listing {
	seen := map[string]bool{}
	for _, l := range list.Repositories {
		if l.Facts != nil {
			seen[l.Facts.ID] = true
		}
	}
	for _, l := range earlier.Repositories {
		if l.Facts != nil && !seen[l.Facts.ID] {
			list.Repositories = append(list.Repositories, l)
		}
	}
	return list
}

// apply carries a plan out: removals of replaced names and renames first, so that their
// names are free for others.
func (k *Keeper) apply(ctx context.Context, v *saved.Service, p *Plan) error {
	left := slices.Clone(p.Left)
	for _, r := range p.Hide {
		now := k.Now().UTC()
		if _, err := k.Store.Repositories().FollowHost(r.ID, store.HostChange{Gone: &now}); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	replaced := func(r *store.Repository) bool { return r.Origin != nil }
	for _, r := range p.Remove {
		if replaced(r) {
			if err := k.remove(ctx, r); err != nil {
				return err
			}
		}
	}
	left = append(left, k.change(ctx, p.Change)...)
	has := slices.Clone(p.Kept)
	var fresh []string
	for _, l := range p.Add {
		r, err := k.add(ctx, v, l)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			left = append(left, err.Error())
			continue
		}
		has = append(has, r.ID)
		switch {
		case r.Indexed():
		case l.Facts == nil:
			fresh = append(fresh, r.Name)
		default:
			k.Refresh(r.Name)
		}
	}
	for _, name := range p.Pushed {
		k.Refresh(name)
	}
	left = append(left, k.permit(ctx, v, p)...)
	slices.Sort(has)
	has = slices.Compact(has)
	// The list is kept before anything else is removed: what a crash leaves behind is a
	// repository too many, never one too few.
	err := k.note(v.ID, func(v *saved.Service) { v.LastError, v.Warning, v.Repositories = "", summary(left), has })
	if err != nil {
		return err
	}
	// Those without an origin are synced when the list says which service signs in.
	for _, name := range fresh {
		k.Refresh(name)
	}
	for _, r := range p.Remove {
		if !replaced(r) {
			if err := k.remove(ctx, r); err != nil {
				return err
			}
		}
	}
	if n := len(p.Add) + len(p.Change) + len(p.Hide) + len(p.Remove); n > 0 {
		k.Log.Info().Uint32("service", v.ID).Int("added", len(p.Add)).Int("changed", len(p.Change)).Int("hidden", len(p.Hide)).Int("removed", len(p.Remove)).Msg("followed external service")
	}
	return nil
}

// add records a repository, with what its host says of it.
func (k *Keeper) add(ctx context.Context, v *saved.Service, l hosts.Listed) (*store.Repository, error) {
	isNew := !k.knows(l.Source.Name)
	r, err := k.Add(ctx, l.Source)
	if err != nil {
		return nil, err
	}
	if l.Facts != nil && r.Guarded && r.Origin == nil {
		config, err := k.Config(v)
		if err != nil {
			return nil, err
		}
		to, _ := newSituation(v, config, nil, nil, k.Now(), time.Duration(k.grace.Load())).change(r, l)
		// One that was there has its readers from here.
		to.Origin.Readers = to.Origin.Readers || isNew && l.Source.Hidden
		if r, err = k.Store.Repositories().FollowHost(r.ID, to); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (k *Keeper) knows(name string) bool {
	sn := k.Store.Snapshot()
	defer sn.Close()
	_, err := sn.Repository(name)
	return err == nil
}

// change makes changes, and describes those that cannot be. A name may be free only
// after another change; two that swap their names need a third one in between.
func (k *Keeper) change(ctx context.Context, all []Change) (left []string) {
	aside := map[uint32]bool{}
	for len(all) > 0 && ctx.Err() == nil {
		var waiting []Change
		for _, c := range all {
			r, err := k.Store.Repositories().FollowHost(c.Repository.ID, c.To)
			switch {
			case err == nil && (c.Renamed() || c.To.Source != ""):
				k.Refresh(r.Name)
			case err == nil || errors.Is(err, store.ErrNotFound):
			case errors.Is(err, store.ErrExists):
				waiting = append(waiting, c)
			default:
				left = append(left, err.Error())
			}
		}
		if len(waiting) == len(all) {
			if !k.sidestep(waiting, aside) {
				return append(left, k.unnamed(waiting)...)
			}
		}
		all = waiting
	}
	return left
}

// sidestep gives one of those that wait for one another's names a name that nothing
// else has, each at most once.
func (k *Keeper) sidestep(waiting []Change, aside map[uint32]bool) bool {
	for _, c := range waiting {
		if !slices.ContainsFunc(waiting, func(o Change) bool { return o.To.Name == c.Repository.Name }) || aside[c.Repository.ID] {
			continue
		}
		_, err := k.Store.Repositories().FollowHost(c.Repository.ID, store.HostChange{Name: fmt.Sprintf("%s~%d", c.Repository.Name, c.Repository.ID)})
		aside[c.Repository.ID] = true
		if err == nil {
			return true
		}
	}
	return false
}

// unnamed makes changes but for the names, which others have.
func (k *Keeper) unnamed(waiting []Change) (left []string) {
	for _, c := range waiting {
		left = append(left, fmt.Sprintf("%s has the name %s now, which another repository has: give that one another name", c.Repository.Name, c.To.Name))
		c.To.Name = ""
		if _, err := k.Store.Repositories().FollowHost(c.Repository.ID, c.To); err != nil {
			left = append(left, err.Error())
		}
	}
	return left
}

// remove forgets a repository, by the name that it has now.
func (k *Keeper) remove(ctx context.Context, r *store.Repository) error {
	sn := k.Store.Snapshot()
	now := sn.RepositoryByID(r.ID)
	if err := sn.Close(); err != nil || now == nil {
		return err
	}
	if err := k.Remove(ctx, now.Name); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

func (k *Keeper) note(id uint32, change func(*saved.Service)) error {
	_, err := k.Book.Services.Change(id, func(v *saved.Service) error {
		v.LastSync = k.Now().UTC()
		change(v)
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil // removed meanwhile
	}
	return err
}

// summary names the first few of those that could not be taken.
func summary(left []string) string {
	const most = 5
	if len(left) > most {
		left = append(left[:most:most], fmt.Sprintf("and %d more", len(left)-most))
	}
	return redact.Text(strings.Join(left, "; "))
}

// RemoveService removes an external service, and the repositories that only it has.
func (k *Keeper) RemoveService(ctx context.Context, id uint32) error {
	v, err := k.Book.Services.Get(id)
	if err != nil {
		return err
	}
	if err := k.Book.Services.Remove(id); err != nil {
		return err
	}
	services, err := k.Book.Services.All()
	if err != nil {
		return err
	}
	listed := map[uint32]bool{}
	for _, o := range services {
		for _, id := range o.Repositories {
			listed[id] = true
		}
	}
	sn := k.Store.Snapshot()
	var only []*store.Repository
	for _, id := range v.Repositories {
		if r := sn.RepositoryByID(id); r != nil && r.Guarded && !r.Named && !listed[id] {
			only = append(only, r)
		}
	}
	if err := sn.Close(); err != nil {
		return err
	}
	for _, r := range only {
		if err := k.remove(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
