package search

import (
	"slices"

	"github.com/trawlsearch/trawl/postings"
)

// revision is a commit of a repository that a query searches.
type revision struct {
	// typed is how results name it, empty for the default branch; said tells an
	// empty one that was typed from none.
	typed string
	said  bool
	// commit is the full id, empty for a repository without commits.
	commit string
	// branch is the number of the indexed branch, -1 if it is none; then contents
	// are its files, once they are known.
	branch   int
	contents *contents
}

// with returns t with the revisions of another target of its repository, nil
// for none, added to its own.
func (t *target) with(other *target) *target {
	if other == nil {
		return t
	}
	joined := *t
	joined.revs = slices.Concat(t.revs, other.revs)
	return &joined
}

// revisionKey is what makes two revisions hold the same documents.
type revisionKey struct {
	repository uint32
	commit     string
}

func (t *target) key(rev *revision) revisionKey { return revisionKey{t.stored.ID, rev.commit} }

// reach says for each revision of a target which documents of one shard it
// holds.
type reach []docSet

// docSet are the documents of one repository in one shard that a revision
// holds: those in a set, or those that are neither dead nor away.
type docSet struct {
	listed             bool
	in, dead, excluded *postings.Set
}

func (s docSet) contains(i uint16) bool {
	if s.listed {
		return s.in != nil && s.in.Contains(i)
	}
	return (s.dead == nil || !s.dead.Contains(i)) && (s.excluded == nil || !s.excluded.Contains(i))
}

// holds reports whether any of the revisions holds document i.
func (r reach) holds(i uint16) bool {
	return slices.ContainsFunc(r, func(s docSet) bool { return s.contains(i) })
}

// everything reports whether some revision surely holds every document.
func (r reach) everything() bool {
	return slices.ContainsFunc(r, func(s docSet) bool {
		return !s.listed && (s.dead == nil || s.dead.Len() == 0) && (s.excluded == nil || s.excluded.Len() == 0)
	})
}

// reachOf returns the reach of t in the shard.
func (p *shardPlan) reachOf(t *target) reach {
	if t == nil {
		return nil
	}
	away := p.view.Away(t.stored.ID)
	out := make(reach, len(t.revs))
	for n, rev := range t.revs {
		switch {
		case p.files != nil:
			out[n] = docSet{listed: true, in: p.files[rev.contents]}
		case rev.branch < 0:
			out[n].listed = true
			if rev.contents != nil {
				out[n].in = rev.contents.in[p.view.ID]
			}
		default:
			out[n].dead = p.view.Dead
			if rev.branch < len(away) {
				out[n].excluded = away[rev.branch]
			}
		}
	}
	return out
}
