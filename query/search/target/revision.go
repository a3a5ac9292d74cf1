package target

import (
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// Documents are the documents of one repository in one shard that a revision
// holds: those in a set, or those that are neither dead nor excluded from its branch.
type Documents struct {
	listed             bool
	in, dead, excluded *postings.Set
}

// Count returns how many documents from first up to but not including end are
// in d.
func (d Documents) Count(first, end int) int {
	if d.listed {
		if d.in == nil {
			return 0
		}
		return len(d.in.AppendRange(nil, first, end))
	}
	n := end - first
	if d.dead != nil {
		n -= len(d.dead.AppendRange(nil, first, end))
	}
	if d.excluded != nil {
		for _, i := range d.excluded.AppendRange(nil, first, end) {
			if d.dead == nil || !d.dead.Contains(i) {
				n--
			}
		}
	}
	return n
}

// Revision is a commit of a repository that a query searches.
type Revision struct {
	// Typed is how results name it, empty for the default branch; IsTyped says that
	// the query names it.
	Typed   string
	IsTyped bool
	// Commit is the full id, empty for a repository without commits.
	Commit string
	// Branch is the number of the indexed branch, -1 if it is none; then Files
	// are its files, once they are known.
	Branch int
	Files  *Files
}

// ByRevision are the documents of one shard that each revision of a target holds.
type ByRevision []Documents

// Contains reports whether the revision holds document i.
func (d Documents) Contains(i uint16) bool {
	if d.listed {
		return d.in != nil && d.in.Contains(i)
	}
	return (d.dead == nil || !d.dead.Contains(i)) && (d.excluded == nil || !d.excluded.Contains(i))
}

// Holds reports whether any of the revisions holds document i.
func (d ByRevision) Holds(i uint16) bool {
	for n := range d { // a closure would be memory for each document
		if d[n].Contains(i) {
			return true
		}
	}
	return false
}

// HoldsAll reports whether some revision surely holds every document.
func (d ByRevision) HoldsAll() bool {
	return slices.ContainsFunc(d, func(s Documents) bool {
		return !s.listed && (s.dead == nil || s.dead.Len() == 0) && (s.excluded == nil || s.excluded.Len() == 0)
	})
}

// Live returns the documents of a shard that are not dead, as those of one revision.
func Live(v shard.View) ByRevision { return ByRevision{{dead: v.Dead}} }

// DocumentsIn returns which documents of a shard each searched revision of a repository
// holds. files are those of each commit if the shard is in memory, and live is what Live
// returns. A lazy set makes no target, and mostly nothing else: a word may be in files of a
// hundred thousand repositories.
func (r *Repositories) DocumentsIn(v shard.View, repository uint32, files map[*Files]*postings.Set, live ByRevision) ByRevision {
	switch {
	case files != nil || !r.IsLazy():
		return r.Get(repository).DocumentsIn(v, files)
	case !r.Has(repository):
		return nil
	case len(v.Away(repository)) == 0:
		return live
	}
	var rev Revision // the default branch
	return ByRevision{rev.In(v, repository)}
}

// DocumentsIn returns which documents of a shard each revision of r holds. files are
// those of each commit if the shard is in memory.
func (r *Repository) DocumentsIn(v shard.View, files map[*Files]*postings.Set) ByRevision {
	if r == nil {
		return nil
	}
	out := make(ByRevision, len(r.Revisions))
	for n, rev := range r.Revisions {
		if files != nil {
			out[n] = Documents{listed: true, in: files[rev.Files]}
		} else {
			out[n] = rev.In(v, r.Stored.ID)
		}
	}
	return out
}

// In returns which documents of a shard the revision of a repository holds.
func (rev *Revision) In(v shard.View, repository uint32) (held Documents) {
	if rev.Branch < 0 {
		held.listed = true
		if rev.Files != nil {
			held.in = rev.Files.In[v.ID]
		}
		return held
	}
	held.dead = v.Dead
	if away := v.Away(repository); rev.Branch < len(away) {
		held.excluded = away[rev.Branch]
	}
	return held
}
