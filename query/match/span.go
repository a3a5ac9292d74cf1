package match

import (
	"cmp"
	"slices"
)

// Span is a half-open interval of bytes of a document.
type Span struct{ Start, End uint32 }

// Merge sorts spans and joins those that overlap; spans that only touch stay
// apart. It works in place.
func Merge(spans []Span) []Span {
	if !slices.IsSortedFunc(spans, compareSpans) {
		slices.SortFunc(spans, compareSpans)
	}
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && (s.Start < out[n-1].End || s == out[n-1]) {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

func compareSpans(a, b Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}
