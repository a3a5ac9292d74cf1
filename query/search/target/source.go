package target

import (
	"iter"
	"slices"

	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// Unindexed are the files of a repository that have to be read through git.
type Unindexed struct {
	Repository *store.Repository
	Files      []SharedFile
}

// SharedFile is a file with the commits that hold it.
type SharedFile struct {
	UnindexedFile
	In []*Files
}

// unindexedOf joins the files in no shard of the revisions of repo that some
// queries search. It returns nil if there are none.
func unindexedOf(repo *store.Repository, queries []*Query) *Unindexed {
	var all []*Files
	for _, b := range queries {
		t := b.Repositories.Get(repo.ID)
		if t == nil {
			continue
		}
		for _, rev := range t.Revisions {
			if rev.Files != nil && len(rev.Files.Unindexed) > 0 && !slices.Contains(all, rev.Files) {
				all = append(all, rev.Files)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	src := &Unindexed{Repository: repo}
	for _, c := range all {
		of := []*Files{c}
		for _, f := range c.Unindexed {
			src.Files = append(src.Files, SharedFile{f, of})
		}
	}
	if len(all) > 1 {
		slices.SortStableFunc(src.Files, func(a, b SharedFile) int { return CompareFiles(a.UnindexedFile, b.UnindexedFile) })
		src.Files = joinSame(src.Files)
	}
	return src
}

// joinSame joins neighbours that are the same file.
func joinSame(files []SharedFile) []SharedFile {
	out := files[:0]
	for _, f := range files {
		if n := len(out); n > 0 && CompareFiles(out[n-1].UnindexedFile, f.UnindexedFile) == 0 {
			out[n-1].In = append(slices.Clip(out[n-1].In), f.In...)
			continue
		}
		out = append(out, f)
	}
	return out
}

// Source is a source of documents: a shard, or the files of one repository that are
// read through git.
type Source struct {
	View shard.View
	// Unindexed is nil for a shard.
	Unindexed *Unindexed
}

// Sources returns the sources with documents of the chosen repositories, in order:
// shards first, and then the files that are in no shard.
func Sources(of *task.Task, queries []*Query) []Source {
	shards := Shards(of, queries)
	out := make([]Source, len(shards))
	for i, v := range shards {
		out[i].View = v
	}
	for _, repo := range WithUnindexed(queries) {
		out = append(out, Source{Unindexed: unindexedOf(repo, queries)})
	}
	return out
}

// WithUnindexed returns the repositories of which files are read through git, in
// listing order. Those of a lazy set have none.
func WithUnindexed(queries []*Query) []*store.Repository {
	var out []*store.Repository
	for _, b := range queries {
		if b.Repositories.IsLazy() {
			continue
		}
		for t := range b.Repositories.All() {
			if t.HasUnindexed() {
				out = append(out, t.Stored)
			}
		}
	}
	slices.SortFunc(out, store.CompareListed)
	return slices.Compact(out)
}

// Shards returns the shards that hold documents of a chosen repository, in
// order.
func Shards(of *task.Task, queries []*Query) []shard.View {
	if len(queries) == 0 {
		return nil
	}
	wanted := map[uint32]bool{}
	var many []*Query
	for _, b := range queries {
		switch {
		case !b.Repositories.IsLazy():
			for t := range b.Repositories.All() {
				for _, id := range t.Stored.Shards {
					wanted[id] = wanted[id] || t.MayBeIn(id)
				}
			}
		case b.Repositories.Len() <= fewTargets:
			for repo := range b.Repositories.Listed() {
				for _, id := range repo.Shards {
					wanted[id] = true
				}
			}
		default:
			many = append(many, b)
		}
	}
	return slices.DeleteFunc(of.Snapshot.Shards(), func(v shard.View) bool {
		return !wanted[v.ID] && !slices.ContainsFunc(many, func(b *Query) bool { return !v.Header.IsHistory() && b.Repositories.AnyIn(of.Snapshot, v.ID) })
	})
}

// AnyIn reports whether a member of a lazy set has documents or commits in a shard.
// Mostly the first repository there is one.
func (r *Repositories) AnyIn(sn *store.Snapshot, shard uint32) bool {
	for id := range sn.ShardRepositories(shard) {
		if r.ids.Has(id) {
			return true
		}
	}
	return false
}

// KeysIn yields the revisions of the targets that may have documents in a
// source. A lazy set makes no targets for it.
func KeysIn(sn *store.Snapshot, targets *Repositories, src Source) iter.Seq[Key] {
	return func(yield func(Key) bool) {
		if targets.IsLazy() && src.Unindexed == nil {
			for id := range sn.ShardRepositories(src.View.ID) {
				if targets.Has(id) && !yield(targets.KeyOf(id, 0)) {
					return
				}
			}
			return
		}
		for t := range targetsIn(sn, targets, src) {
			for _, rev := range t.Revisions {
				there := src.Unindexed == nil && rev.MayBeIn(src.View.ID) || src.Unindexed != nil && rev.Files != nil && len(rev.Files.Unindexed) > 0
				if there && !yield(t.Key(rev)) {
					return
				}
			}
		}
	}
}

// fewTargets are so many that it is quicker to look at each than at each repository
// of a shard.
const fewTargets = 256

// targetsIn yields the targets of a set that is not lazy, of repositories that may have
// documents in a source.
func targetsIn(sn *store.Snapshot, targets *Repositories, src Source) iter.Seq[*Repository] {
	return func(yield func(*Repository) bool) {
		if src.Unindexed != nil {
			if t := targets.Get(src.Unindexed.Repository.ID); t != nil {
				yield(t)
			}
			return
		}
		if targets.Len() <= fewTargets {
			for t := range targets.All() {
				if slices.Contains(t.Stored.Shards, src.View.ID) && !yield(t) {
					return
				}
			}
			return
		}
		for id := range sn.ShardRepositories(src.View.ID) {
			if t := targets.Get(id); t != nil && slices.Contains(t.Stored.Shards, src.View.ID) && !yield(t) {
				return
			}
		}
	}
}
