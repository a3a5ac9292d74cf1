package repolist

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// filter says which repositories are listed: those that have all terms in their names,
// descriptions or topics, whatever the case.
type filter []string

func newFilter(text string) filter { return strings.Fields(strings.ToLower(text)) }

func (f filter) matches(r *store.Repository) bool {
	if len(f) == 0 {
		return true
	}
	name, description := strings.ToLower(r.Name), strings.ToLower(r.Description)
	for _, term := range f {
		if !strings.Contains(name, term) && !strings.Contains(description, term) && !slices.Contains(r.Topics, term) {
			return false
		}
	}
	return true
}

// order is how repositories are sorted.
type order string

// The orders. The first is that in which the store lists them: by stars, then the
// newest record first.
const (
	byStars   order = "stars"
	byName    order = "name"
	byChange  order = "changed"
	byLag     order = "lag"
	allOrders       = "stars name changed lag"
)

// orderNamed is the order with a name, byStars for none.
func orderNamed(name string) order {
	if slices.Contains(strings.Fields(allOrders), name) {
		return order(name)
	}
	return byStars
}

// sort sorts repositories that the store has listed.
func (o order) sort(all []*store.Repository) {
	switch o {
	case byName:
		slices.SortFunc(all, func(a, b *store.Repository) int { return cmp.Compare(a.Name, b.Name) })
	case byChange:
		slices.SortStableFunc(all, func(a, b *store.Repository) int { return changed(b).Compare(changed(a)) })
	case byLag:
		slices.SortStableFunc(all, func(a, b *store.Repository) int { return seen(a).Compare(seen(b)) })
	}
}

// changed is when the last commit was made or, while history is not indexed, when the
// repository was last indexed with a change.
func changed(r *store.Repository) time.Time {
	if r.History.Newest > 0 {
		return time.Unix(r.History.Newest, 0).UTC()
	}
	return r.LastIndexed
}

// seen is when the source was last looked at, when it was added if it never was.
func seen(r *store.Repository) time.Time {
	if at := r.Fetched(); !at.IsZero() {
		return at
	}
	return r.Created
}
