package store

import (
	"slices"
	"sort"
	"sync"
)

// Mark is a fact of repositories, which are found by it without looking at the
// others.
type Mark int

const (
	// MarkFork is Repository.Fork.
	MarkFork Mark = iota
	// MarkArchived is Repository.Archived.
	MarkArchived
	// MarkPrivate is Repository.Private.
	MarkPrivate
	// MarkRestricted is that a repository has Readers, or is gone, so that not all may
	// see it.
	MarkRestricted
	// MarkUnindexed is that it has no generation yet.
	MarkUnindexed
	// MarkManyBranches is that more than one branch is indexed.
	MarkManyBranches
	// MarkEmpty is that it has a generation and no commit.
	MarkEmpty
	// MarkHistoryPartial is that some commits of its default branch are not kept.
	MarkHistoryPartial
	// MarkDated is that History knows the newest commit of its default branch.
	MarkDated
	// MarkMailmap is that a mailmap says who its people are.
	MarkMailmap
	// MarkGone is Repository.IsGone.
	MarkGone
	// MarkFailed is that the last sync failed: LastError.
	MarkFailed
	// MarkUncloned is that its source is elsewhere and was never fetched for a record.
	MarkUncloned

	marks
)

// Of reports whether r has the mark.
func (m Mark) Of(r *Repository) bool {
	switch m {
	case MarkFork:
		return r.Fork
	case MarkArchived:
		return r.Archived
	case MarkPrivate:
		return r.Private
	case MarkRestricted:
		return r.Readers != nil || r.IsGone()
	case MarkUnindexed:
		return !r.Indexed()
	case MarkManyBranches:
		return len(r.Branches) > 1
	case MarkEmpty:
		return r.Indexed() && r.Commit() == ""
	case MarkHistoryPartial:
		return r.Commit() != "" && (r.History.More || !r.History.Complete(r.Commit()))
	case MarkDated:
		return r.Indexed() && r.Commit() != "" && r.History.Complete(r.Commit()) && r.History.Commits > 0
	case MarkMailmap:
		return r.History.Mailmap != ""
	case MarkGone:
		return r.IsGone()
	case MarkFailed:
		return r.LastError != ""
	case MarkUncloned:
		return r.Mirror && r.LastFetched.IsZero()
	}
	return false
}

// Names are the names of all repositories in one text, so that a pattern is
// looked for in all of them at once. Another text of each is kept in the same way.
type Names struct {
	// text has each name followed by a newline, in the order of names.
	text []byte
	// starts are the offsets of names in text, ids those of their repositories.
	starts []int
	ids    []uint32
}

// Find returns the repositories with a name that l finds.
func (n *Names) Find(l LineFinder) *IDs {
	out, line := &IDs{}, 0
	l.Find(n.text, func(start int) bool {
		line += n.steps(line, start)
		out.Add(n.ids[line])
		return true
	})
	return out
}

// steps returns how many lines behind another the line is that begins at start.
func (n *Names) steps(line, start int) int {
	behind := 1 // twice as far each time: neighbours are near
	for line+behind < len(n.starts) && n.starts[line+behind] <= start {
		behind *= 2
	}
	near := n.starts[line:min(line+behind, len(n.starts))]
	return sort.Search(len(near), func(i int) bool { return near[i] > start }) - 1
}

func (n *Names) add(name string, id uint32) {
	n.starts, n.ids = append(n.starts, len(n.text)), append(n.ids, id)
	n.text = append(append(n.text, name...), '\n')
}

// lazyNames are the names of the versions between two changes of a name, made
// when they are first asked for.
type lazyNames struct {
	once sync.Once
	Names
}

func (l *lazyNames) of(c *catalogue) *Names {
	l.once.Do(func() {
		l.starts, l.ids = make([]int, 0, c.byName.Len()), make([]uint32, 0, c.byName.Len())
		c.byName.Scan(func(name string, r *Repository) bool {
			l.add(name, r.ID)
			return true
		})
		l.text = slices.Clip(l.text)
	})
	return &l.Names
}
