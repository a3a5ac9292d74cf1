package store

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/tidwall/btree"
)

// repositoryTable has the records of repositories, in the orders and indexes by which they
// are found.
type repositoryTable struct {
	byID   *btree.Map[uint32, *Repository]
	byName *btree.Map[string, *Repository]
	// listed are the repositories in the order in which they are listed.
	listed *btree.BTreeG[*Repository]
	// all are the IDs of all repositories, ids those of repositories with a mark.
	all sharedIDs
	ids [marks]sharedIDs
	// names and facts are made when they are asked for.
	names *lazyNames
	facts *lazyFacts
	// holders say which repositories have something in a shard.
	holders *btree.BTreeG[holder]
	// defaults are the repositories by the name of their default branch, and dated those
	// with MarkDated by their newest commit.
	defaults *btree.BTreeG[entry[string]]
	dated    *btree.BTreeG[entry[int64]]
}

func newRepositoryTable() repositoryTable {
	return repositoryTable{
		byID: &btree.Map[uint32, *Repository]{}, byName: &btree.Map[string, *Repository]{}, listed: ordered(CompareListed),
		names: &lazyNames{}, facts: &lazyFacts{}, holders: ordered(compareHolders),
		defaults: ordered(compareEntries[string]), dated: ordered(compareEntries[int64]),
	}
}

// clone returns a table of its own, whose trees and sets share what does not change.
func (t *repositoryTable) clone() repositoryTable {
	t.all.share()
	for m := range t.ids {
		t.ids[m].share()
	}
	next := *t
	next.byID, next.byName, next.listed = t.byID.Copy(), t.byName.Copy(), t.listed.Copy()
	next.holders, next.defaults, next.dated = t.holders.Copy(), t.defaults.Copy(), t.dated.Copy()
	return next
}

// CompareListed compares repositories by the order in which they are listed: stars
// descending, then ID descending.
func CompareListed(a, b *Repository) int {
	return cmp.Or(cmp.Compare(b.Stars, a.Stars), cmp.Compare(b.ID, a.ID))
}

// holder says that a repository has something in a shard. stars are 0 for a shard
// of commits.
type holder struct {
	shard, repository uint32
	stars             int
}

// compareHolders puts the best repository of a shard first.
func compareHolders(a, b holder) int {
	return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(b.stars, a.stars), cmp.Compare(a.repository, b.repository))
}

// entry says that a key of an index is that of a repository.
type entry[K cmp.Ordered] struct {
	key        K
	repository uint32
}

func compareEntries[K cmp.Ordered](a, b entry[K]) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.repository, b.repository))
}

// defaultOf returns the name of the default branch of r, which may be nil; ok is false if it
// has none that is indexed and has a name.
func defaultOf(r *Repository) (e entry[string], ok bool) {
	if r == nil || len(r.Branches) == 0 || r.Branches[0].Name == "" {
		return e, false
	}
	return entry[string]{r.Branches[0].Name, r.ID}, true
}

// withDefault returns the IDs of the repositories with a default branch of some name.
func (t *repositoryTable) withDefault(name string) *IDs {
	out := &IDs{}
	t.defaults.Ascend(entry[string]{key: name}, func(e entry[string]) bool {
		if e.key != name {
			return false
		}
		out.Add(e.repository)
		return true
	})
	return out
}

// datedOf returns when the newest commit of r, which may be nil, was made, in seconds since
// 1970; ok is false if it has not MarkDated.
func datedOf(r *Repository) (e entry[int64], ok bool) {
	if r == nil || !MarkDated.Of(r) {
		return e, false
	}
	return entry[int64]{r.History.Newest, r.ID}, true
}

// newerThan returns the IDs of the repositories with MarkDated whose newest commit is of a
// later second.
func (t *repositoryTable) newerThan(seconds int64) *IDs {
	out := &IDs{}
	if seconds == math.MaxInt64 {
		return out
	}
	t.dated.Ascend(entry[int64]{key: seconds + 1}, func(e entry[int64]) bool {
		out.Add(e.repository)
		return true
	})
	return out
}

// replace puts what a record says into an index, in the place of what the record before
// said. Either may have said nothing.
func replace[T comparable](index *btree.BTreeG[T], was T, had bool, is T, has bool) {
	if had == has && was == is {
		return
	}
	if had {
		index.Delete(was)
	}
	if has {
		index.Set(is)
	}
}

// holdersOf yields what a repository has.
func holdersOf(r *Repository) iter.Seq[holder] {
	return func(yield func(holder) bool) {
		for _, id := range r.Shards {
			if !yield(holder{id, r.ID, r.Stars}) {
				return
			}
		}
		for _, id := range r.History.Shards {
			if !yield(holder{id, r.ID, 0}) {
				return
			}
		}
	}
}

// holding yields the repositories that have something in a shard, the best one
// first.
func (t *repositoryTable) holding(shard uint32) iter.Seq[holder] {
	return func(yield func(holder) bool) {
		t.holders.Ascend(holder{shard: shard, stars: math.MaxInt}, func(h holder) bool { return h.shard == shard && yield(h) })
	}
}

// isHeld reports whether a repository has something in a shard.
func (t *repositoryTable) isHeld(shard uint32) bool {
	for range t.holding(shard) {
		return true
	}
	return false
}

// repository returns the one with an ID, or nil.
func (t *repositoryTable) repository(id uint32) *Repository {
	r, _ := t.byID.Get(id)
	return r
}

// named returns the repository of a name, or nil.
func (t *repositoryTable) named(name string) *Repository {
	r, _ := t.byName.Get(name)
	return r
}

// release takes a repository from its shards.
func (t *repositoryTable) release(r *Repository) {
	for h := range holdersOf(r) {
		t.holders.Delete(h)
	}
}

// list takes a record into all indexes by facts.
func (t *repositoryTable) list(r *Repository) {
	t.byID.Set(r.ID, r)
	t.byName.Set(r.Name, r)
	t.listed.Set(r)
}

func (t *repositoryTable) unlist(r *Repository) {
	t.byID.Delete(r.ID)
	t.byName.Delete(r.Name)
	t.listed.Delete(r)
}

// of returns the repositories that have something in a shard, by ID.
func (t *repositoryTable) of(shard uint32) []*Repository {
	var out []*Repository
	for h := range t.holding(shard) {
		out = append(out, t.repository(h.repository))
	}
	slices.SortFunc(out, func(a, b *Repository) int { return int(a.ID) - int(b.ID) })
	return out
}

// index keeps up the sets of IDs when r takes the place of old, which has the same ID,
// and drops what was made of records and does not hold then. Either may be nil.
func (t *repositoryTable) index(old, r *Repository) {
	id := cmp.Or(old, r).ID
	t.all.set(id, r != nil)
	for m := range t.ids {
		t.ids[m].set(id, r != nil && Mark(m).Of(r))
	}
	wasDefault, had := defaultOf(old)
	isDefault, has := defaultOf(r)
	replace(t.defaults, wasDefault, had, isDefault, has)
	wasDated, had := datedOf(old)
	isDated, has := datedOf(r)
	replace(t.dated, wasDated, had, isDated, has)
	if old == nil || r == nil || old.Name != r.Name {
		t.names = &lazyNames{}
	}
	if !sameFacts(cmp.Or(old, &Repository{}), cmp.Or(r, &Repository{})) {
		t.facts = &lazyFacts{}
	}
}
