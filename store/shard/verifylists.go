package shard

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
)

// walk yields trigrams with their encoded lists, ascending.
type walk func(func(postings.Trigram, []byte) error) error

// gather adds the blocks of a document to the lists to compare with.
func (w *verifier) gather(block int, text []byte) {
	if w.Quick {
		return
	}
	w.builder.AddDocument(block, text)
	addWide(&w.wide, block, text)
}

// contentLists compares the lists of the content with those made of the text.
func (w *verifier) contentLists() error {
	if w.Quick {
		return w.decode(FieldExact, FieldContent, FieldPath)
	}
	exact := walk(func(func(postings.Trigram, []byte) error) error { return nil })
	if w.v.Header.exact() {
		exact = w.builder.WalkExact
	}
	if err := w.compare(FieldExact, exact); err != nil {
		return err
	}
	if err := w.compare(FieldContent, w.builder.Walk); err != nil {
		return err
	}
	w.sameSet("the blocks with wide letters", w.t.sets.wide, &w.wide)
	w.builder.Reset()
	return nil
}

// pathLists is contentLists for the paths.
func (w *verifier) pathLists() error {
	if w.Quick {
		return nil
	}
	var wide postings.Set
	for i := range w.t.docs.Len() {
		old := ""
		if w.t.commits != nil {
			old = w.t.commits.OldPath(i)
		}
		for _, path := range [][]byte{[]byte(w.t.docs.Path(i)), []byte(old)} {
			w.builder.AddWhole(i, path)
			if hasWide(path) {
				wide.Add(uint16(i))
			}
		}
	}
	w.sameSet("the paths with wide letters", w.t.sets.widePath, &wide)
	err := w.compare(FieldPath, w.builder.Walk)
	w.builder.Reset()
	return err
}

func (w *verifier) sameSet(what string, got, want *postings.Set) {
	if got == nil {
		got = &postings.Set{}
	}
	if !bytes.Equal(postings.Encode(nil, got), postings.Encode(nil, want)) {
		w.Fault("lists", fmt.Sprintf("%s are %d, of the text they are %d", what, got.Len(), want.Len()))
	}
}

// lists reads the posting lists of a field in order.
func (w *verifier) lists(f Field) (*pebble.Iterator, error) {
	prefix := appendKeyField(nil, w.v.ID, f)
	return w.v.src.Reader.NewIter(engine.Prefix(prefix))
}

// mostTold is how many wrong lists of a field are reported one by one.
const mostTold = 3

// comparison is of the lists of one field.
type comparison struct {
	w     *verifier
	it    *pebble.Iterator
	field Field
	wrong int
}

// compare holds the lists of a field against those that want yields.
func (w *verifier) compare(f Field, want walk) error {
	it, err := w.lists(f)
	if w.fault("lists", err) {
		return nil
	}
	c := &comparison{w: w, it: it, field: f}
	more := it.First()
	err = want(func(t postings.Trigram, value []byte) error {
		key := appendKeyPosting(nil, w.v.ID, f, t)
		for more && bytes.Compare(it.Key(), key) < 0 {
			c.tell(it.Key(), "is of no text")
			more = it.Next()
		}
		if !more || !bytes.Equal(it.Key(), key) {
			c.tell(key, "is missing")
			return w.tick(len(value))
		}
		got, err := it.ValueAndErr()
		if err == nil && !bytes.Equal(got, value) {
			err = sameList(got, value)
		}
		if err != nil {
			c.tell(key, err.Error())
		}
		more = it.Next()
		return w.tick(len(value))
	})
	for ; more && err == nil; more = it.Next() {
		c.tell(it.Key(), "is of no text")
	}
	if c.wrong > mostTold {
		w.Fault("lists", fmt.Sprintf("%d more lists of %s are wrong", c.wrong-mostTold, f))
	}
	w.fault("lists", it.Error())
	_ = it.Close() // it says the same again
	return err
}

// tell reports a wrong list, up to mostTold of them. An engine that cannot read
// the lists is reported once.
func (c *comparison) tell(key []byte, problem string) {
	if c.it.Error() != nil {
		return
	}
	if c.wrong++; c.wrong > mostTold {
		return
	}
	t := trigramOf(key).Bytes()
	c.w.Fault("lists", fmt.Sprintf("the list of %q of %s %s", t[:], c.field, problem))
}

// String returns what the lists of a field are of.
func (f Field) String() string {
	return [...]string{"the content as it stands", "the content", "the paths", "the symbols"}[f]
}

// sameList compares lists that an older program may have encoded in another way.
func sameList(got, want []byte) error {
	var a, b postings.Set
	if err := a.Decode(got); err != nil {
		return err
	}
	if err := b.Decode(want); err != nil {
		return err
	}
	if !bytes.Equal(postings.Encode(nil, &a), postings.Encode(nil, &b)) {
		return fmt.Errorf("has %d blocks, %d have it in their text", a.Len(), b.Len())
	}
	return nil
}

// decode reports lists that cannot be decoded.
func (w *verifier) decode(fields ...Field) error {
	var set postings.Set
	for _, f := range fields {
		it, err := w.lists(f)
		if w.fault("lists", err) {
			continue
		}
		c := &comparison{w: w, it: it, field: f}
		for ok := it.First(); ok; ok = it.Next() {
			value, err := it.ValueAndErr()
			if err == nil {
				err = set.Decode(value)
			}
			if err != nil {
				c.tell(it.Key(), err.Error())
			}
			if err := w.tick(len(value)); err != nil {
				_ = it.Close() // the work is given up
				return err
			}
		}
		w.fault("lists", it.Error())
		_ = it.Close() // it says the same again
	}
	return nil
}

// symbols goes over the groups of symbols and compares their lists.
func (w *verifier) symbols() error {
	h := w.v.Header.Symbols
	if h == nil || h.Version != SymbolVersion {
		return nil // those that are there are written anew
	}
	docOf, docs := w.t.docOf, w.t.docs
	prefix := appendShardPart(nil, w.v.ID, partSymbols)
	it, err := w.v.src.Reader.NewIter(engine.Prefix(prefix))
	if w.fault("symbols", err) {
		return nil
	}
	defer it.Close()
	var found []Symbol
	var wide postings.Set
	count, last := 0, -1
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		block := int(key[len(key)-2])<<8 | int(key[len(key)-1])
		if len(key) != len(prefix)+2 || block >= len(docOf) {
			w.Fault("symbols", fmt.Sprintf("key %x should not be there", key))
			continue
		}
		// The groups of a document take the first of its numbers.
		if first := int(docs.FirstBlock[docOf[block]]); block != first && last != block-1 {
			w.Fault("symbols", fmt.Sprintf("group %d of document %d is missing", block-1-first, docOf[block]))
		}
		last = block
		value, err := it.ValueAndErr()
		if err == nil {
			found, err = decodeSymbols(found[:0], value)
		}
		if w.fault("symbols", err) {
			continue
		}
		count += len(found)
		for _, s := range found {
			if name := []byte(s.Name); !w.Quick {
				w.builder.AddWhole(block, name)
				if hasWide(name) {
					wide.Add(uint16(block))
				}
			}
		}
		if err := w.tick(len(value)); err != nil {
			return err
		}
	}
	if w.fault("symbols", it.Error()) {
		return nil
	}
	if count != h.Symbols {
		w.Fault("symbols", fmt.Sprintf("there are %d, the header tells of %d", count, h.Symbols))
	}
	if w.Quick {
		return w.decode(FieldSymbol)
	}
	set, err := readSet(w.v.src.Reader, keySymbolSpecial(w.v.ID, specialWideFold))
	if !w.fault("symbols", err) {
		w.sameSet("the symbols with wide letters", set, &wide)
	}
	return w.compare(FieldSymbol, w.builder.Walk)
}
