package shard

import (
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
)

// Lists reads posting lists of one field of one shard; it implements
// postings.Reader. It is not safe for concurrent use.
type Lists struct {
	v     View
	field Field
	r     *ListReader
	// wide is for symbols; those of the other fields are the shard's.
	wide *postings.Set
}

// Lists returns the lists of the content or the paths, read through r; those of
// symbols are SymbolLists. Documents must have succeeded before.
func (v View) Lists(f Field, r *ListReader) *Lists { return &Lists{v: v, field: f, r: r} }

// Exact reports whether List and Scan know trigrams with an upper-case letter.
func (l *Lists) Exact() bool { return l.field == FieldContent && l.v.Header.exact() }

// fieldOf returns the field under which the list of t stands.
func (l *Lists) fieldOf(t postings.Trigram) Field {
	if l.field == FieldContent && t.Exact() {
		return FieldExact
	}
	return l.field
}

// List appends the encoded list of t to dst.
func (l *Lists) List(dst []byte, t postings.Trigram) ([]byte, error) {
	l.r.key = appendKeyPosting(l.r.key[:0], l.v.ID, l.fieldOf(t), t)
	return l.r.get(dst)
}

// Scan yields the lists of the trigrams from lo up to but not including hi, exact
// ones if lo is. f must not read lists through the same reader.
func (l *Lists) Scan(lo, hi postings.Trigram, f func(value []byte) (bool, error)) error {
	field := l.fieldOf(lo)
	l.r.key = appendKeyPosting(l.r.key[:0], l.v.ID, field, lo)
	if hi < postings.NumTrigrams {
		l.r.end = appendKeyPosting(l.r.end[:0], l.v.ID, field, hi)
	} else {
		l.r.end = append(l.r.end[:0], engine.After(appendKeyField(nil, l.v.ID, field))...)
	}
	return l.r.scan(f)
}

// WideFold returns the blocks, or for paths the documents, with a rune outside
// ASCII that folds to an ASCII letter.
func (l *Lists) WideFold() *postings.Set {
	switch l.field {
	case FieldPath:
		return l.v.tables().widePath
	case FieldSymbol:
		return l.wide
	}
	return l.v.tables().wide
}

// ScanAlways returns the blocks that are not indexed, for the content field.
func (l *Lists) ScanAlways() *postings.Set {
	if l.field != FieldContent {
		return nil
	}
	return l.v.tables().scan
}
