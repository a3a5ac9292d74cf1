package store

import (
	"slices"
	"sort"
	"sync"
)

// Mark is a fact of few repositories, which are found without looking at the
// others.
type Mark int

const (
	// MarkFork is Repository.Fork.
	MarkFork Mark = iota
	// MarkArchived is Repository.Archived.
	MarkArchived
	// MarkPrivate is Repository.Private.
	MarkPrivate
	// MarkRestricted is that a repository has Readers.
	MarkRestricted
	// MarkUnindexed is that it has no generation yet.
	MarkUnindexed
	// MarkManyBranches is that more than one branch is indexed.
	MarkManyBranches

	marks
)

// of reports whether r has the mark.
func (m Mark) of(r *Repository) bool {
	switch m {
	case MarkFork:
		return r.Fork
	case MarkArchived:
		return r.Archived
	case MarkPrivate:
		return r.Private
	case MarkRestricted:
		return r.Readers != nil
	case MarkUnindexed:
		return !r.Indexed()
	case MarkManyBranches:
		return len(r.Branches) > 1
	}
	return false
}

// Names are the names of all repositories in one text, so that a pattern is
// looked for in all of them at once.
type Names struct {
	// Text has each name followed by a newline, in the order of names.
	Text []byte
	// starts are the offsets of names in Text, ids those of their repositories.
	starts []int
	ids    []uint32
}

// Len returns the number of names.
func (n *Names) Len() int { return len(n.ids) }

// Line returns which name the byte at an offset of Text belongs to.
func (n *Names) Line(offset int) int {
	return sort.Search(len(n.starts), func(i int) bool { return n.starts[i] > offset }) - 1
}

// At returns a name, which is borrowed, and the ID of its repository.
func (n *Names) At(line int) (name []byte, repository uint32) {
	end := len(n.Text)
	if line+1 < len(n.starts) {
		end = n.starts[line+1]
	}
	return n.Text[n.starts[line] : end-1], n.ids[line]
}

// End returns the offset behind a name and its newline.
func (n *Names) End(line int) int {
	if line+1 < len(n.starts) {
		return n.starts[line+1]
	}
	return len(n.Text)
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
			l.starts, l.ids = append(l.starts, len(l.Text)), append(l.ids, r.ID)
			l.Text = append(append(l.Text, name...), '\n')
			return true
		})
		l.Text = slices.Clip(l.Text)
	})
	return &l.Names
}
