package hostsync

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// Plan is what a listing of a service changes.
type Plan struct {
	// Add are repositories that are new.
	Add []hosts.Listed
	// Change are those whose name, source or facts differ, and those that were hidden
	// and are listed again.
	Change []Change
	// Hide are those that are not listed any more, Remove those that have been hidden
	// for long enough, or whose name another has now.
	Hide, Remove []*store.Repository
	// Pushed are those that were pushed to since they were fetched.
	Pushed []string
	// Kept are the numbers of all that the service has then, but for those of Add.
	Kept []uint32
	// Left describes what cannot be taken.
	Left []string
	// Private are those that not all may read, for which Readers is asked, if it is not
	// nil. The accounts that it returns are those of the host at url.
	Private []hosts.Listed
	Readers func(ctx context.Context, r *codehost.Repository) ([]codehost.Reader, error)
	url     string
}

// Change is what becomes of a repository.
type Change struct {
	Repository *store.Repository
	To         store.HostChange
}

// Renamed reports whether the repository gets another name.
func (c Change) Renamed() bool { return c.To.Name != "" && c.To.Name != c.Repository.Name }

// situation is what a plan is made from.
type situation struct {
	service *saved.Service
	// kind and url are those of the host.
	kind, url string
	now       time.Time
	// takesReaders says that readers are taken from the host.
	takesReaders bool
	// grace is for how long what vanished is kept.
	grace time.Duration
	// all are the repositories of the store.
	all []*store.Repository
	// others has the services, besides this one, that list a repository.
	others map[uint32][]uint32
	// byHost and byName are those of all.
	byHost map[string]*store.Repository
	byName map[string]*store.Repository
}

func newSituation(v *saved.Service, config *hosts.Config, all []*store.Repository, services []*saved.Service, now time.Time, grace time.Duration) *situation {
	s := &situation{
		service: v, kind: strings.ToLower(config.Kind), now: now, grace: grace, all: all, takesReaders: config.TakesReaders(),
		others: map[uint32][]uint32{}, byHost: map[string]*store.Repository{}, byName: make(map[string]*store.Repository, len(all)),
	}
	// Addresses that lists of several services name are the same repository.
	if config.URL != nil && config.Kind != hosts.KindOther {
		u := *config.URL
		u.User = nil
		s.url = strings.TrimSuffix(strings.ToLower(u.String()), "/") + "/"
	}
	for _, o := range services {
		if o.ID == v.ID {
			continue
		}
		for _, id := range o.Repositories {
			s.others[id] = append(s.others[id], o.ID)
		}
	}
	for _, r := range all {
		s.byName[r.Name] = r
		if o := r.Origin; o != nil && o.Kind == s.kind && o.URL == s.url {
			s.byHost[o.ID] = r
		}
	}
	return s
}

// Parent implements codehost.Known.
func (s *situation) Parent(id string) string {
	if r := s.byHost[id]; r != nil {
		return r.Origin.Parent
	}
	return ""
}

// owns reports whether the record of a repository follows this service: it did before,
// or the service that it followed does not list it any more.
func (s *situation) owns(r *store.Repository) bool {
	return r.Origin != nil && (r.Origin.Service == s.service.ID || !slices.Contains(s.others[r.ID], r.Origin.Service))
}

// missing returns the repositories that the service had and a listing lacks.
func (s *situation) missing(list *hosts.Listing) (out []*store.Repository) {
	listed := map[uint32]bool{}
	for _, l := range list.Repositories {
		if r := s.of(l); r != nil {
			listed[r.ID] = true
		}
	}
	for _, r := range s.all {
		_, had := slices.BinarySearch(s.service.Repositories, r.ID)
		// A crash may have come before the service's list was kept.
		had = had || r.Origin != nil && r.Origin.Service == s.service.ID
		if had && !listed[r.ID] {
			out = append(out, r)
		}
	}
	return out
}

// of returns the repository that a listed one is, nil for a new one.
func (s *situation) of(l hosts.Listed) *store.Repository {
	if l.Facts == nil {
		if r := s.byName[l.Source.Name]; r != nil && sameSource(r.Source, l.Source.Location) {
			return r
		}
		return nil
	}
	if r := s.byHost[l.Facts.ID]; r != nil {
		return r
	}
	// One that was added by its address before the service was.
	if r := s.byName[l.Source.Name]; r != nil && r.Source == l.Source.Location && r.Origin == nil {
		return r
	}
	return nil
}

// sameSource reports whether two addresses are the same but for who signs in.
func sameSource(a, b string) bool {
	if a == b {
		return true
	}
	u, err := url.Parse(a)
	v, errV := url.Parse(b)
	if err != nil || errV != nil {
		return false
	}
	u.User, v.User = nil, nil
	return u.String() == v.String()
}

// plan makes the plan of a listing.
func (s *situation) plan(list *hosts.Listing) *Plan {
	p := &Plan{Left: slices.Concat(list.Failed, list.Left), Private: private(list), Readers: list.Readers, url: s.url}
	for _, l := range list.Repositories {
		r := s.of(l)
		if r == nil {
			p.Add = append(p.Add, l)
			continue
		}
		p.Kept = append(p.Kept, r.ID)
		if l.Facts == nil && r.Guarded && r.Source != l.Source.Location {
			// An older program wrote the login of the configuration down with it.
			p.Change = append(p.Change, Change{r, store.HostChange{Source: l.Source.Location}})
		}
		if l.Facts == nil || !r.Guarded || r.Origin != nil && !s.owns(r) {
			continue // the operator's, or another service's to change
		}
		if to, changed := s.change(r, l); changed {
			p.Change = append(p.Change, Change{r, to})
		}
		if r.Indexed() && l.Facts.Pushed.After(r.Fetched()) {
			p.Pushed = append(p.Pushed, l.Source.Name)
		}
	}
	s.vanished(p, list)
	s.replaced(p)
	slices.Sort(p.Kept)
	p.Kept = slices.Compact(p.Kept)
	return p
}

// vanished plans what becomes of repositories that are not listed any more.
func (s *situation) vanished(p *Plan, list *hosts.Listing) {
	for _, r := range s.missing(list) {
		switch {
		case len(list.Failed) > 0:
			p.Kept = append(p.Kept, r.ID) // it may be in the part that failed
		case len(s.others[r.ID]) > 0 || !r.Guarded || r.Named:
		case r.Origin == nil:
			p.Remove = append(p.Remove, r) // its configuration named it itself
		case !r.IsGone():
			p.Hide = append(p.Hide, r)
			p.Kept = append(p.Kept, r.ID)
		case s.now.Sub(r.Gone) >= s.grace:
			p.Remove = append(p.Remove, r)
		default:
			p.Kept = append(p.Kept, r.ID)
		}
	}
}

// replaced has those removed that vanished and whose name a new one has now.
func (s *situation) replaced(p *Plan) {
	names, planned, removed := map[string]bool{}, map[*store.Repository]bool{}, map[uint32]bool{}
	for _, l := range p.Add {
		names[l.Source.Name] = true
	}
	for _, c := range p.Change {
		planned[c.Repository] = true
		if c.Renamed() {
			names[c.To.Name] = true
		}
	}
	for _, r := range p.Remove {
		planned[r] = true
	}
	vanished := func(r *store.Repository) bool {
		if !names[r.Name] || !s.owns(r) {
			return false
		}
		p.Remove = append(p.Remove, r)
		planned[r], removed[r.ID] = true, true
		return true
	}
	p.Hide = slices.DeleteFunc(p.Hide, vanished)
	for _, r := range s.all {
		if r.IsGone() && !planned[r] {
			vanished(r)
		}
	}
	p.Kept = slices.DeleteFunc(p.Kept, func(id uint32) bool { return removed[id] })
}

// change returns what differs between a repository and what its host says.
func (s *situation) change(r *store.Repository, l hosts.Listed) (to store.HostChange, changed bool) {
	origin := store.Origin{Service: s.service.ID, Kind: s.kind, URL: s.url, ID: l.Facts.ID, Parent: l.Facts.Parent, Readers: r.HasHostReaders()}
	if s.takesReaders {
		changed = restrict(r, l.Facts, &to, &origin)
	}
	if r.Origin == nil || *r.Origin != origin {
		to.Origin, changed = &origin, true
	}
	if r.Name != l.Source.Name {
		to.Name, changed = l.Source.Name, true
	}
	if r.Source != l.Source.Location {
		to.Source, changed = l.Source.Location, true
	}
	if r.IsGone() {
		to.Gone, changed = &time.Time{}, true
	}
	if !l.Facts.Bare {
		to.Facts = factsChange(r, l.Facts)
	}
	return to, changed || !to.Facts.Empty()
}

const (
	mostDescriptionBytes = 4 << 10
	mostTopics           = 100
)

// factsChange returns the facts that differ.
func factsChange(r *store.Repository, facts *codehost.Repository) (c store.FactsChange) {
	differ(&c.Stars, r.Stars, max(facts.Stars, 0))
	differ(&c.Fork, r.Fork, facts.Fork)
	differ(&c.Archived, r.Archived, facts.Archived)
	differ(&c.Private, r.Private, facts.Private)
	description := facts.Description
	if len(description) > mostDescriptionBytes {
		description = description[:mostDescriptionBytes]
	}
	differ(&c.Description, r.Description, strings.ToValidUTF8(description, ""))
	topics := []string{}
	for _, t := range facts.Topics {
		if t = strings.ToValidUTF8(t, ""); t != "" && len(topics) < mostTopics {
			topics = append(topics, t)
		}
	}
	slices.Sort(topics)
	if topics = slices.Compact(topics); !slices.Equal(topics, r.Topics) {
		c.Topics = &topics
	}
	return c
}

func differ[T comparable](to **T, from, value T) {
	if from != value {
		*to = &value
	}
}
