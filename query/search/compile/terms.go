package compile

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/ident"
)

// Term is a word of a pattern that may be the name of a definition.
type Term struct {
	// Text is the word, folded as lists are.
	Text string
	// Share is what its pattern counts of the whole.
	Share float64
	// Part says that the word may be part of a longer name. In a sentence it may
	// not, except at its ends, and there it hardly is.
	Part bool
	// Whole finds names that are the word in lists, Inside names that hold it.
	// Names end with an imaginary zero byte.
	Whole, Inside *postings.Literal
}

// terms returns the words of the patterns of q that a document has to match,
// those that may be names, without repeats.
func (q *Query) terms() []Term {
	var out []Term
	for _, a := range q.Atoms {
		if a.Silent || a.Negated {
			continue
		}
		for _, w := range words(a.Expr, true) {
			known := slices.ContainsFunc(out, func(t Term) bool { return t.Text == w.Text })
			if !known && len(w.Text) >= minTerm && len(out) < maxTerms {
				out = append(out, Term{
					Text: w.Text, Share: q.Share, Part: w.Part,
					Whole: &postings.Literal{Runs: []string{w.Text + "\x00"}}, Inside: &postings.Literal{Runs: []string{w.Text}},
				})
			}
		}
	}
	return out
}

// Words that are shorter than minTerm define nothing that is worth looking for
// among so many; maxTerms bounds what a long query costs.
const (
	minTerm  = 2
	maxTerms = 8
)

// words returns the words of which a match of e has some. Their shares are not
// set. whole says that e is all that is known of the pattern.
func words(e postings.Expr, whole bool) (out []Term) {
	var parts []postings.Expr
	switch e := e.(type) {
	case *postings.Literal:
		for _, run := range e.Runs {
			all := strings.FieldsFunc(run, func(r rune) bool { return r < 0x80 && ident.Class(byte(r)) == ident.Other })
			for _, word := range all {
				edge := strings.HasPrefix(run, word) || strings.HasSuffix(run, word)
				out = append(out, Term{Text: word, Part: len(all) == 1 || edge && !whole})
			}
		}
	case *postings.And:
		parts = e.Exprs
	case *postings.Or:
		parts = e.Exprs
	}
	for _, part := range parts {
		out = append(out, words(part, false)...)
	}
	return out
}

// AskedPatterns counts the patterns of q that a document may match.
func (q *Query) AskedPatterns() (n int) {
	for _, a := range q.Atoms {
		if !a.Silent && !a.Negated {
			n++
		}
	}
	return n
}
