package finder

import (
	"cmp"
	"slices"

	"github.com/trawlsearch/trawl/store"
)

// file is a path that matches.
type file struct {
	found
	// quality is that of the document, 0 for the best.
	quality    byte
	repository *store.Repository
	path       string
}

// compare puts the better file first: by score, then one whose name matches, then the
// document of better quality, then the shorter path.
func compare(a, b file) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	if a.named != b.named {
		return cmp.Compare(worse(a), worse(b))
	}
	if a.quality != b.quality || len(a.path) != len(b.path) {
		return cmp.Or(cmp.Compare(a.quality, b.quality), cmp.Compare(len(a.path), len(b.path)))
	}
	return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.repository.Name, b.repository.Name))
}

func worse(f file) int {
	if f.named {
		return 0
	}
	return 1
}

// best keeps the best files, the best first.
type best struct {
	most  int
	files []file
}

// least is the score that a file needs to be among them.
func (b *best) least() int {
	if len(b.files) < b.most {
		return 0
	}
	return b.files[b.most-1].score
}

// admits says whether a file would be among them.
func (b *best) admits(f file) bool {
	return len(b.files) < b.most || compare(b.files[b.most-1], f) > 0
}

func (b *best) add(f file) {
	if !b.admits(f) {
		return
	}
	i, _ := slices.BinarySearchFunc(b.files, f, compare)
	b.files = slices.Insert(b.files, i, f)
	b.files = b.files[:min(len(b.files), b.most)]
}
