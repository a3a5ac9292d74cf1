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

// unindexedOf joins the files in no shard of the revisions of repo that a pass
// searches. It returns nil if there are none.
func unindexedOf(repo *store.Repository, pass []*Query) *Unindexed {
	var all []*Files
	for _, b := range pass {
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
func Sources(of *task.Task, pass []*Query) []Source {
	var out []Source
	for _, v := range Shards(of, pass) {
		out = append(out, Source{View: v})
	}
	for _, repo := range of.Repositories {
		if rest := unindexedOf(repo, pass); rest != nil {
			out = append(out, Source{Unindexed: rest})
		}
	}
	return out
}

// Shards returns the shards that hold documents of a chosen repository, in
// order.
func Shards(of *task.Task, pass []*Query) []shard.View {
	wanted := map[uint32]bool{}
	for _, b := range pass {
		for t := range b.Repositories.All() {
			for _, id := range t.Stored.Shards {
				wanted[id] = wanted[id] || t.MayReach(id)
			}
		}
	}
	return slices.DeleteFunc(of.Snapshot.Shards(), func(v shard.View) bool { return !wanted[v.ID] })
}

// KeysIn yields the revisions of the targets that may have documents in a
// source.
func KeysIn(targets *Set, src Source) iter.Seq[Key] {
	return func(yield func(Key) bool) {
		for t := range targets.All() {
			switch {
			case src.Unindexed != nil && t.Stored.ID != src.Unindexed.Repository.ID:
				continue
			case src.Unindexed == nil && !slices.Contains(t.Stored.Shards, src.View.ID):
				continue
			}
			for _, rev := range t.Revisions {
				there := src.Unindexed == nil && rev.MayReach(src.View.ID) || src.Unindexed != nil && rev.Files != nil && len(rev.Files.Unindexed) > 0
				if there && !yield(t.Key(rev)) {
					return
				}
			}
		}
	}
}
