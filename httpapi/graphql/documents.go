package graphql

import (
	"encoding/hex"
	"errors"
	"sync"

	"github.com/trawlsearch/trawl/store"
)

// documents are those of the indexed generation of a repository on its default
// branch. They are read from the store, which needs no git.
type documents struct {
	session *session
	runs    []documentRun

	mu sync.Mutex // guards all below
	// sought counts the paths that were looked for one by one.
	sought int
	byPath map[string]document // nil until it pays
}

// documentRun is a run of neighbouring documents of a shard.
type documentRun struct {
	view       store.View
	table      *store.Documents
	first, end int
	away       interface{ Contains(uint16) bool }
}

const (
	// mapAfter is how many paths are looked for before all are put into a map,
	// which costs about as much as that.
	mapAfter = 64
	// maxMapped is how many documents the maps of one answer may hold, each with
	// about so many bytes.
	maxMapped   = 1 << 20
	mappedBytes = 100
)

// each calls f for every document.
func (d *documents) each(f func(path string, d document)) {
	for _, r := range d.runs {
		for i := r.first; i < r.end; i++ {
			if r.lives(i) {
				f(r.table.Path(i), document{r.view, r.table, i})
			}
		}
	}
}

func (r *documentRun) lives(i int) bool {
	return !r.away.Contains(uint16(i)) && (r.view.Dead == nil || !r.view.Dead.Contains(uint16(i)))
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
		for i := r.first; i < r.end; i++ {
			if r.table.Path(i) == path && r.lives(i) {
				return document{r.view, r.table, i}, true
			}
		}
	}
	return document{}, false
}

// makeMap makes the map, unless those of the answer are large already.
func (d *documents) makeMap() {
	n := 0
	for _, r := range d.runs {
		n += r.end - r.first
	}
	if d.session.mapped.Add(int64(n)) > maxMapped || !d.session.take(n*mappedBytes) {
		return
	}
	d.byPath = make(map[string]document, n)
	d.each(func(path string, found document) { d.byPath[path] = found })
}

// document is where a document stands.
type document struct {
	view  store.View
	table *store.Documents
	i     int
}

func (d document) at() store.Document { return d.table.At(d.i) }
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
func (d document) text() (out []byte, err error) {
	t := d.view.Text()
	defer func() { err = errors.Join(err, t.Close()) }()
	start := d.table.TextStart[d.i]
	borrowed, err := t.Slice(start, start+d.table.TextBytes[d.i])
	return append([]byte{}, borrowed...), err
}

// documentsOf returns the documents of a repository on its default branch.
func (s *session) documentsOf(r *store.Repository) (*documents, error) {
	sn := s.snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[r]; d != nil {
		return d, nil
	}
	out := &documents{session: s}
	for _, id := range r.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			continue
		}
		table, err := v.Documents()
		if err != nil {
			return nil, err
		}
		away := awayFromDefault(v, r)
		for _, run := range table.Runs() {
			if run.Repository == r.ID {
				out.runs = append(out.runs, documentRun{v, table, run.First, run.End, away})
			}
		}
	}
	s.documents[r] = out
	return out, nil
}

// awayFromDefault are the documents of a shard that only other branches hold.
func awayFromDefault(v store.View, r *store.Repository) interface{ Contains(uint16) bool } {
	if away := v.Away(r.ID); len(away) > 0 && away[0] != nil {
		return away[0]
	}
	return none{}
}

// none holds nothing.
type none struct{}

// Contains is false.
func (none) Contains(uint16) bool { return false }
