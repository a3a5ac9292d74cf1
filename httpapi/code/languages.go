package code

import (
	"cmp"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store"
)

// LanguageShare is a language of a repository, with the bytes of its files and what
// percentage that is of all files whose language is known.
type LanguageShare struct {
	Name    string
	Bytes   int64
	Percent float64
}

// mostLanguages are kept of one repository, and mostCounted repositories are.
const (
	mostLanguages = 12
	mostCounted   = 4000
)

// Languages counts the languages of repositories, each generation once: all documents
// have to be looked at. The zero value is ready to use, by several goroutines.
type Languages struct {
	mu   sync.Mutex // guards kept
	kept map[uint32]countedLanguages
}

type countedLanguages struct {
	generation uint64
	shares     []LanguageShare
}

// Of returns the languages of a repository's default branch, the largest first. They
// are shared and not to be changed.
func (l *Languages) Of(sn *store.Snapshot, r *store.Repository) ([]LanguageShare, error) {
	if !r.Indexed() {
		return nil, nil
	}
	l.mu.Lock()
	known, ok := l.kept[r.ID]
	l.mu.Unlock()
	if ok && known.generation == r.Generation {
		return known.shares, nil
	}
	runs, err := Runs(sn, r)
	if err != nil {
		return nil, err
	}
	shares := shares(runs)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil || len(l.kept) >= mostCounted {
		l.kept = map[uint32]countedLanguages{}
	}
	l.kept[r.ID] = countedLanguages{r.Generation, shares}
	return shares, nil
}

func shares(runs []DocumentRun) []LanguageShare {
	bytes := map[string]int64{}
	var all int64
	for n := range runs {
		r := &runs[n]
		for i := r.First; i < r.End; i++ {
			if word := r.Table.Language[i]; word != 0 && r.Lives(i) {
				size := int64(r.Table.FileBytes[i])
				bytes[r.Table.Words[word]] += size
				all += size
			}
		}
	}
	var out []LanguageShare
	for name, n := range bytes {
		out = append(out, LanguageShare{name, n, 100 * float64(n) / float64(max(all, 1))})
	}
	slices.SortFunc(out, func(a, b LanguageShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return slices.Clone(out[:min(len(out), mostLanguages)])
}
