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
	// branch is the number of the indexed branch.
	branch int
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
// holds: those that are neither dead nor away.
type docSet struct{ dead, away *postings.Set }

func (s docSet) contains(i uint16) bool {
	return (s.dead == nil || !s.dead.Contains(i)) && (s.away == nil || !s.away.Contains(i))
}

// holds reports whether any of the revisions holds document i.
func (r reach) holds(i uint16) bool {
	return slices.ContainsFunc(r, func(s docSet) bool { return s.contains(i) })
}

// reachOf returns the reach of t in the shard.
func (p *shardPlan) reachOf(t *target) reach {
	if t == nil {
		return nil
	}
	away := p.view.Away(t.stored.ID)
	out := make(reach, len(t.revs))
	for n, rev := range t.revs {
		out[n].dead = p.view.Dead
		if rev.branch < len(away) {
			out[n].away = away[rev.branch]
		}
	}
	return out
}
