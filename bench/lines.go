package bench

import (
	"cmp"
	"maps"
	"slices"
)

// LineSet is an answer reduced to what two tools can agree on: the numbers of
// the matching lines, from 1, by path. A path without lines is an answer that
// names a file only. Sort it before comparing.
type LineSet map[string][]uint32

// Add puts one line of path into s; line 0 adds the path alone.
func (s LineSet) Add(path string, line uint32) {
	lines := s[path]
	if line > 0 {
		lines = append(lines, line)
	}
	s[path] = lines
}

// Sort orders the lines of every path and removes duplicates, which arise when
// two matches stand on one line.
func (s LineSet) Sort() {
	for path, lines := range s {
		slices.Sort(lines)
		s[path] = slices.Compact(lines)
	}
}

// Len returns the number of lines, counting a path without lines as one.
func (s LineSet) Len() int {
	n := 0
	for _, lines := range s {
		n += max(len(lines), 1)
	}
	return n
}

// Keep removes the paths that keep refuses.
func (s LineSet) Keep(keep func(path string) bool) {
	maps.DeleteFunc(s, func(path string, _ []uint32) bool { return !keep(path) })
}

// Paths returns s with the lines forgotten.
func (s LineSet) Paths() LineSet {
	out := make(LineSet, len(s))
	for path := range s {
		out[path] = nil
	}
	return out
}

// LinePosition is one element of a LineSet.
type LinePosition struct {
	Path string `json:"path"`
	Line uint32 `json:"line,omitempty"`
	// Text is the line as it stands in the corpus, cut when long.
	Text string `json:"text,omitempty"`
}

// Difference is how two answers disagree, seen from trawl's.
type Difference struct {
	// Missing counts what only the peer found, Extra what only trawl found.
	Missing int `json:"missing"`
	Extra   int `json:"extra"`
	// MissingAt and ExtraAt are the first few of them in order.
	MissingAt []LinePosition `json:"missingAt,omitempty"`
	ExtraAt   []LinePosition `json:"extraAt,omitempty"`
}

// Empty reports whether the answers agree.
func (d Difference) Empty() bool { return d.Missing == 0 && d.Extra == 0 }

// maxExamples is how many places of each side a difference spells out.
const maxExamples = 5

// Compare returns how got differs from want, both sorted.
func Compare(got, want LineSet) Difference {
	var d Difference
	for _, path := range sortedUnion(got, want) {
		extra, missing := compareFile(path, got, want)
		d.Extra += len(extra)
		d.Missing += len(missing)
		d.ExtraAt = appendFew(d.ExtraAt, extra)
		d.MissingAt = appendFew(d.MissingAt, missing)
	}
	return d
}

func sortedUnion(a, b LineSet) []string {
	paths := slices.AppendSeq(make([]string, 0, len(a)), maps.Keys(a))
	for path := range b {
		if _, ok := a[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, cmp.Compare[string])
	return paths
}

// compareFile merges the two sorted lists of one path.
func compareFile(path string, got, want LineSet) (extra, missing []LinePosition) {
	g, w := places(path, got), places(path, want)
	for len(g) > 0 || len(w) > 0 {
		switch {
		case len(w) == 0 || len(g) > 0 && g[0] < w[0]:
			extra = append(extra, LinePosition{Path: path, Line: g[0]})
			g = g[1:]
		case len(g) == 0 || w[0] < g[0]:
			missing = append(missing, LinePosition{Path: path, Line: w[0]})
			w = w[1:]
		default:
			g, w = g[1:], w[1:]
		}
	}
	return extra, missing
}

// places returns the lines of path, with 0 standing for the bare path.
func places(path string, s LineSet) []uint32 {
	lines, ok := s[path]
	if ok && len(lines) == 0 {
		return []uint32{0}
	}
	return lines
}

func appendFew(to, from []LinePosition) []LinePosition {
	return append(to, from[:min(len(from), maxExamples-len(to))]...)
}
