package graphql

import (
	"encoding/hex"
	"errors"

	"github.com/trawlsearch/trawl/store"
)

// documents are those of the indexed generation of a repository. They are read
// from the store, which needs no git.
type documents struct {
	byPath map[string]document
	// views are the shards that hold them.
	views []store.View
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
	out := &documents{byPath: make(map[string]document, r.Documents)}
	for _, id := range r.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			continue
		}
		table, err := v.Documents()
		if err != nil {
			return nil, err
		}
		out.views = append(out.views, v)
		away := awayFromDefault(v, r)
		for i := range table.Len() {
			if table.Repository[i] == r.ID && !away.Contains(uint16(i)) && (v.Dead == nil || !v.Dead.Contains(uint16(i))) {
				out.byPath[table.Path(i)] = document{v, table, i}
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
