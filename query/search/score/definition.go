package score

import (
	"bytes"
	"cmp"
	"math"
	pathpkg "path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/ident"
	"github.com/trawlsearch/trawl/store/shard"
)

// Definition is a symbol whose name a query has.
type Definition struct {
	shard.Symbol
	// Factor is the worth of its kind, 1 to 10.
	Factor float64
	// Term is the word of the query that stands in the name from Lo to Hi.
	Term   string
	Lo, Hi int
	// Rarity is the share that is left, since others have the name: what has
	// one in a thousand files is hardly wanted, what has it in few may be.
	Rarity float64
}

// Definitions are the definitions of a query's names in one shard, by document.
// The zero value has none.
type Definitions struct {
	// Find, if not nil, finds them when the first is asked for.
	Find       func()
	ByDocument map[uint16][]Definition
}

// Add adds a definition in document i.
func (d *Definitions) Add(i uint16, found Definition) {
	if d.ByDocument == nil {
		d.ByDocument = map[uint16][]Definition{}
	}
	d.ByDocument[i] = append(d.ByDocument[i], found)
}

// In returns the definitions in document i.
func (d *Definitions) In(i uint16) []Definition {
	if d == nil {
		return nil
	}
	if d.Find != nil {
		d.Find()
	}
	return d.ByDocument[i]
}

// usualNames is how many definitions of one kind may share a name before it
// counts against them.
const usualNames = 16

// Rarity is the share of each of n definitions of one kind: all of it of sixteen,
// 0.78 of a hundred.
func Rarity(n int) float64 { return 1 / (1 + 0.35*math.Log10(float64(max(n, usualNames))/usualNames)) }

// kindFactors rate kinds of symbols by the words of ctags: definitions that
// other files refer to come first. Other kinds count 1.
var kindFactors = map[string]float64{
	"class": 10, "interface": 9.5, "trait": 9.5, "protocol": 9.5, "struct": 9.5, "union": 9, "enum": 9, "record": 9,
	"type": 9, "talias": 9, "typedef": 8.5, "alias": 7, "service": 9, "message": 8.5, "module": 7, "namespace": 6, "package": 4,
	"object": 8, "implementation": 7, "annotation": 7,
	"function": 8, "func": 8, "procedure": 8, "subroutine": 8, "method": 7.5, "methodSpec": 8, "constructor": 7, "singletonMethod": 7,
	"getter": 6, "setter": 6, "accessor": 6, "macro": 8, "define": 8, "subprogram": 8, "command": 7, "rpc": 8,
	"constant": 6, "const": 6, "variable": 5, "var": 5, "enumerator": 5.5, "enumConstant": 5.5, "property": 4, "field": 3, "member": 3,
	"anonMember": 3, "label": 1.5, "local": 1.5, "parameter": 1,
	"chapter": 3, "section": 3, "subsection": 2.5, "subsubsection": 2, "heredoc": 1, "target": 4, "key": 2, "id": 2, "selector": 2,
}

// KindFactor rates a kind. Go says in the name whether others may use it, and a
// macro of C that stands in no header is for that file alone.
func KindFactor(kind, language, name, path string) float64 {
	f, known := kindFactors[kind]
	if !known {
		f = 1
	}
	if language == "Go" {
		if r, _ := utf8.DecodeRuneInString(name); r < utf8.RuneSelf && ident.Class(byte(r)) == ident.Upper && f < 10 {
			f += 0.5
		}
		if strings.HasSuffix(path, "_test.go") {
			f *= 0.8
		}
	}
	if (kind == "macro" || kind == "define") && strings.HasSuffix(path, ".c") {
		f--
	}
	return f
}

// DefinitionPoints rates a match from lo to hi of a name. A match that ends
// within a word of the name is hardly about it: trace defines no race.
func DefinitionPoints(lo, hi int, name string, factor float64) float64 {
	points, share := kindWorth*factor, 1.0
	if ident.Edge(name, lo) == ident.NoEdge || ident.Edge(name, hi) == ident.NoEdge {
		share = withinWord
	}
	switch {
	case lo <= 0 && hi >= len(name):
		return points + definitionWhole
	case lo <= 0 || hi >= len(name):
		return share * (points + definitionEdge)
	}
	return share * (points + definitionInside)
}

// defined returns the points of the best definition in the text of whose name
// h has a part, or which h names with what it belongs to.
func (doc *Document) defined(path string, h *Hit) float64 {
	best := 0.0
	for i := range doc.Definitions {
		d, place := &doc.Definitions[i], &doc.places[i]
		if h.Owner != "" && ident.Fold(h.Member) == ident.Fold(d.Name) && d.belongsTo(h.Owner, path) {
			best = max(best, DefinitionPoints(0, len(d.Name), d.Name, d.Factor)*CaseShare(h.Member, d.Name)*d.Rarity)
			continue
		}
		if !place.known {
			continue
		}
		for _, span := range overlapping(h.Text, place.at, place.at+uint32(len(d.Name))) {
			lo, hi := int(span.Start)-int(place.at), int(span.End)-int(place.at)
			points := DefinitionPoints(lo, hi, d.Name, d.Factor)
			found := d.Name[max(lo, 0):min(hi, len(d.Name))]
			if lo < 0 || hi > len(d.Name) {
				found = "" // more than the name: in what case is no matter
			}
			best = max(best, points*CaseShare(h.Literal, cmp.Or(found, h.Literal))*d.Rarity)
		}
	}
	return best
}

// kindPoints returns those of the best definition of which the hits name both
// the kind and the name.
func (doc *Document) kindPoints() float64 {
	best := 0.0
	for i := range doc.Definitions {
		d := &doc.Definitions[i]
		if d.Hi-d.Lo == len(d.Name) && !strings.EqualFold(d.Kind, d.Name) && doc.asksFor(d.Kind) && doc.asksFor(d.Name) {
			best = max(best, kindNamed*d.Rarity)
		}
	}
	return best
}

// asksFor reports whether a hit is of the literal word, in whatever case.
func (doc *Document) asksFor(word string) bool {
	return slices.ContainsFunc(doc.Hits, func(h Hit) bool { return strings.EqualFold(h.Literal, word) })
}

// belongsTo reports whether owner names what d belongs to: what contains it, or
// the file or folder it is in, as modules and packages are named in many
// languages.
func (d *Definition) belongsTo(owner, path string) bool {
	container := d.Container[strings.LastIndexAny(d.Container, ".:")+1:]
	dir, base := pathpkg.Split(path)
	stem, _, _ := strings.Cut(base, ".")
	return slices.ContainsFunc([]string{container, stem, pathpkg.Base(dir)}, func(s string) bool { return strings.EqualFold(s, owner) })
}

// definitionPlace is the offset of the name of a definition, if it is known.
type definitionPlace struct {
	at    uint32
	known bool
}

// locate finds where the definitions stand, of those that patterns may touch.
func (doc *Document) locate() error {
	if len(doc.Definitions) == 0 {
		return nil
	}
	doc.places = make([]definitionPlace, len(doc.Definitions))
	if !slices.ContainsFunc(doc.Hits, func(h Hit) bool { return len(h.Text) > 0 }) {
		return nil
	}
	for i := range doc.Definitions {
		var err error
		if doc.places[i], err = doc.Definitions[i].find(doc.Text); err != nil {
			return err
		}
	}
	return nil
}

// find returns where the name stands in the document.
func (d *Definition) find(text *match.Text) (place definitionPlace, err error) {
	start, end, err := text.Line(d.Line)
	if err != nil || start == end {
		return place, err
	}
	line, err := text.Bytes(start, end)
	if err != nil {
		return place, err
	}
	at := runeOffset(line, int(d.Column))
	if !bytes.HasPrefix(line[at:], []byte(d.Name)) {
		// A name that does not stand where it was found may stand elsewhere.
		if at = bytes.Index(line, []byte(d.Name)); at < 0 {
			return place, nil
		}
	}
	return definitionPlace{at: uint32(start + at), known: true}, nil
}

// runeOffset returns where the n-th rune of text begins.
func runeOffset(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// overlapping returns the spans, which are sorted and disjoint, that overlap
// the interval.
func overlapping(spans []match.Span, lo, hi uint32) []match.Span {
	first := sort.Search(len(spans), func(i int) bool { return spans[i].End > lo })
	spans = spans[first:]
	return spans[:sort.Search(len(spans), func(i int) bool { return spans[i].Start >= hi })]
}
