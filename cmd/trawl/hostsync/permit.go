package hostsync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// mostPermits is for how many repositories a host is asked who may read them, with one
// listing. Those for which it was asked longest ago go first.
const mostPermits = 500

// permitTimeout is how long a host may take to say who may read them.
const permitTimeout = time.Hour

// nobody are the readers of a repository for which the host has not said them yet: site
// admins only.
func nobody() *store.Readers { return &store.Readers{} }

// followsReaders reports whether the readers of a repository are those of the host: it has
// none that a user here has set.
func followsReaders(r *store.Repository) bool {
	return r.Guarded && (r.Readers == nil || r.HasHostReaders())
}

// permits are when readers were asked for, by the number of the repository.
type permits map[uint32]time.Time

// permit asks the host who may read those repositories that not all may, and sets their
// readers. What the host cannot say stays as it is.
func (k *Keeper) permit(ctx context.Context, v *saved.Service, p *Plan) (left []string) {
	if p.Readers == nil {
		return nil
	}
	type asked struct {
		r     *store.Repository
		facts *codehost.Repository
	}
	var all []asked
	sn := k.Store.Snapshot()
	byHost := map[string]*store.Repository{}
	for _, r := range sn.Repositories() {
		if r.Origin != nil && r.Origin.Service == v.ID {
			byHost[r.Origin.ID] = r
		}
	}
	if err := sn.Close(); err != nil {
		return []string{err.Error()}
	}
	for _, l := range p.Private {
		if r := byHost[l.Facts.ID]; r != nil && followsReaders(r) {
			all = append(all, asked{r, l.Facts})
		}
	}
	k.permitsMu.Lock()
	defer k.permitsMu.Unlock()
	if k.permits == nil {
		k.permits = permits{}
	}
	slices.SortStableFunc(all, func(a, b asked) int { return k.permits[a.r.ID].Compare(k.permits[b.r.ID]) })
	ctx, cancel := context.WithTimeout(ctx, permitTimeout)
	defer cancel()
	for _, a := range all[:min(len(all), mostPermits)] {
		readers, err := p.Readers(ctx, a.facts)
		if err == nil {
			err = k.setReaders(a.r, p.url, readers)
		}
		if err != nil && codehost.Fatal(ctx, err) {
			return append(left, "readers: "+redact.Text(err.Error()))
		}
		k.permits[a.r.ID] = k.Now() // also if it cannot say, or others would never be asked for
		if err != nil {
			left = append(left, fmt.Sprintf("readers of %s: %s", a.r.Name, redact.Text(err.Error())))
		}
	}
	return left
}

// setReaders gives a repository those accounts as readers that are the host's.
func (k *Keeper) setReaders(r *store.Repository, host string, readers []codehost.Reader) error {
	users, err := k.match(host, readers)
	if err != nil {
		return err
	}
	to := &store.Readers{Users: users}
	if r.HasHostReaders() && r.Readers.Equal(to) {
		return nil
	}
	origin := *r.Origin
	origin.Readers = true
	_, err = k.Store.Repositories().FollowHost(r.ID, store.HostChange{Origin: &origin, Readers: &store.ReadersChange{To: to}})
	if errors.Is(err, store.ErrNotFound) {
		return nil // removed meanwhile
	}
	if err == nil {
		k.Log.Info().Str("repo", r.Name).Int("readers", len(users)).Msg("took readers from external service")
	}
	return err
}

// match returns the users, ascending, that accounts of a host are: those who sign in there, by
// the account, and those whose verified address here the host has verified, or is trusted for.
func (k *Keeper) match(host string, readers []codehost.Reader) (out []uint32, err error) {
	var providers []string
	for _, p := range k.Providers {
		if strings.TrimSuffix(strings.ToLower(p.Issuer), "/") == strings.TrimSuffix(host, "/") {
			providers = append(providers, p.Name)
		}
	}
	found := func(u *identity.User, err error) error {
		if err == nil {
			out = append(out, u.ID)
			return nil
		}
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	for _, r := range readers {
		for _, p := range providers {
			if err := found(k.Registry.UserOfExternal(p, r.ID)); err != nil {
				return nil, err
			}
		}
		if r.Email != "" {
			if err := found(k.Registry.UserWithEmail(r.Email)); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// restrict adds to a change what the visibility of a repository asks for at once: one that
// not all may read any more has no readers until the host says them, and one that all may
// read loses those of the host.
func restrict(r *store.Repository, facts *codehost.Repository, to *store.HostChange, origin *store.Origin) (changed bool) {
	switch {
	case facts.Private && r.Readers == nil && followsReaders(r):
		origin.Readers = true
		to.Readers = &store.ReadersChange{To: nobody()}
	case !facts.Private && origin.Readers:
		origin.Readers = false
		to.Readers = &store.ReadersChange{}
	default:
		return false
	}
	return true
}

// private are those of a listing that not all may read.
func private(list *hosts.Listing) (out []hosts.Listed) {
	for _, l := range list.Repositories {
		if l.Facts != nil && l.Facts.Private {
			out = append(out, l)
		}
	}
	return out
}
