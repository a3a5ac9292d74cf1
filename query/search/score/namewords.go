package score

import (
	"strings"

	"github.com/trawlsearch/trawl/query/search/ident"
)

// A file is called after what it is about, so a file whose name is made of words
// of the query is about more of the query than one that has a word in passing.

// Points of the name of a file for a query of several patterns, found by
// trawl-bench mined over the half to tune on.
const (
	// stemWorth is for a base name without extensions of which every word is
	// like a word of the query, less for a part of its letters.
	stemWorth = 6000
	// pathWorth is for a path that has all patterns, less for two or more.
	pathWorth = 4000
	// alikeBytes and alikeShare are how many bytes, and which share of the longer
	// word, words have in common from their beginning that are like each other.
	alikeBytes, alikeShare = 3, 0.6
	// formShare is the share of a word that is only like one of the query.
	formShare = 0.8
)

// alike reports whether two words may be forms of one, such as scrape and
// scraping.
func alike(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	longer := max(len(a), len(b))
	return n == longer || n >= alikeBytes && float64(n) >= alikeShare*float64(longer)
}

// plainNames are names that files have for what they are in their directory, which
// alone says what they are about, as in events/core.c and parser/index.ts.
var plainNames = map[string]bool{"core": true, "main": true, "index": true, "mod": true, "lib": true, "__init__": true}

// stemPoints rates the base name of a path, or its directory's if the base name is
// plain, by how many of its letters stand in words of the hits, or in words like
// them.
func stemPoints(path string, hits []Hit) float64 {
	slash := strings.LastIndexByte(path, '/')
	base := path[slash+1:]
	stem, _, _ := strings.Cut(base, ".")
	if stem == "" {
		stem = base
	}
	share := lettersShare(stem, hits)
	if slash > 0 && plainNames[ident.Fold(stem)] {
		dir := path[:slash]
		share = max(share, lettersShare(dir[strings.LastIndexByte(dir, '/')+1:], hits))
	}
	return stemWorth * share
}

// lettersShare is the share of the letters of a name that stand in words of the
// hits, less for those in words like them.
func lettersShare(name string, hits []Hit) float64 {
	var buf [8]string
	of, all := 0.0, 0
	for _, w := range ident.Words(buf[:0], name) {
		all += len(w)
		of += wordShare(w, hits) * float64(len(w))
	}
	return of / float64(max(all, 1))
}

// wordShare is 1 if w is a word of a hit, formShare if it is like one, else 0.
func wordShare(w string, hits []Hit) (share float64) {
	for i := range hits {
		for _, other := range hits[i].Words {
			if w == other {
				return 1
			}
			if alike(w, other) {
				share = formShare
			}
		}
	}
	return share
}

// togetherInPath rates how many of the hits the path has.
func togetherInPath(hits []Hit) float64 {
	n := 0
	for i := range hits {
		if len(hits[i].Path) > 0 {
			n++
		}
	}
	return pathWorth * float64(max(n-1, 0)) / float64(max(len(hits)-1, 1))
}
