package gitobject

import (
	"encoding/hex"
	"sync"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// documents are those of the indexed generation of a repository on its default
// branch. They are read from the store, which needs no git.
type documents struct {
	session *Session
	runs    []code.DocumentRun

	mu sync.Mutex // guards all below
	// sought counts the paths that were looked for one by one.
	sought int
	byPath map[string]document // nil until it pays
}

// mapAfter is how many paths are looked for before all are put into a map,
// which costs about as much as that.
const mapAfter = 64

// each calls f for every document.
func (d *documents) each(f func(path string, d document)) {
	for _, r := range d.runs {
		for i := r.First; i < r.End; i++ {
			if r.Lives(i) {
				f(r.Table.Path(i), document{r.View, r.Table, i})
			}
		}
	}
}

// find returns the document of a path.
func (d *documents) find(path string) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sought++; d.sought == mapAfter {
		d.makeMap()
	}
	if d.byPath != nil {
		found, ok := d.byPath[path]
		return found, ok
	}
	for _, r := range d.runs {
		if i, ok := r.Find(path); ok {
			return document{r.View, r.Table, i}, true
		}
	}
	return document{}, false
}

// makeMap makes the map, unless those of the answer are large already.
func (d *documents) makeMap() {
	n := 0
	for _, r := range d.runs {
		n += r.End - r.First
	}
	if !d.session.TakeMap(n) {
		return
	}
	d.byPath = make(map[string]document, n)
	d.each(func(path string, found document) { d.byPath[path] = found })
}

// document is where a document stands.
type document struct {
	view  shard.View
	table *shard.Documents
	i     int
}

func (d document) at() shard.Document { return d.table.At(d.i) }
func (d document) oid() string        { return hex.EncodeToString(d.table.OID(d.i)) }

// lines counts the newlines of the document, and an unfinished last line.
func (d document) newlines() int {
	n := 0
	for b := d.table.FirstBlock[d.i]; b < d.table.FirstBlock[d.i+1]; b++ {
		n += int(d.view.Newlines()[b])
	}
	return n
}

// text returns a copy of the text.
func (d document) text() ([]byte, error) { return code.Text(d.view, d.table, d.i) }

// documentsOf returns the documents of a repository on its default branch.
func (s *Session) documentsOf(r *store.Repository) (*documents, error) {
	sn := s.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[r]; d != nil {
		return d, nil
	}
	runs, err := code.Runs(sn, r)
	if err != nil {
		return nil, err
	}
	out := &documents{session: s, runs: runs}
	s.documents[r] = out
	return out, nil
}

// LanguageAt returns what the document of a path has of its language, nothing for
// none.
func (s *Session) LanguageAt(r *store.Repository, path, language string) (LanguageStatistics, error) {
	docs, err := s.documentsOf(r)
	if err != nil {
		return LanguageStatistics{}, err
	}
	d, ok := docs.find(path)
	if !ok {
		return LanguageStatistics{}, nil
	}
	return LanguageStatistics{language, float64(d.table.FileBytes[d.i]), wire.Int32(d.newlines())}, nil
}
