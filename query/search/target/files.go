package target

import (
	"cmp"
	"strings"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/git"
)

// Files are the files of a commit that is not indexed: documents of shards
// that are the same, dead ones too since their text is still there, and the
// Unindexed ones, which are read through git.
type Files struct {
	In        map[uint32]*postings.Set // by shard
	Unindexed []UnindexedFile          // by rank
}

// UnindexedFile is a file that is in no shard.
type UnindexedFile struct {
	git.TreeEntry
	Quality byte
}

// Bytes returns an estimate of the memory of f.
func (f *Files) Bytes() int {
	const perFile, perSet = 160, 9 << 10
	n := 1<<10 + len(f.In)*perSet
	for i := range f.Unindexed {
		n += perFile + len(f.Unindexed[i].Path)
	}
	return n
}

// CompareFiles compares files by rank.
func CompareFiles(a, b UnindexedFile) int {
	return cmp.Or(cmp.Compare(a.Quality, b.Quality), strings.Compare(a.Path, b.Path), strings.Compare(a.OID, b.OID), cmp.Compare(a.Mode, b.Mode))
}
