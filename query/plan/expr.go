package plan

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/postings"
)

// info is what is known of the texts that a regexp matches. Either exact is
// the set of all of them, or it is nil, every text begins with one of prefix
// and ends with one of suffix, and match holds for it.
//
// The laws it rests on: a text of x y is a text of x and behind it one of y. So
// it holds all texts required by either, and at the border one of x's suffixes
// followed by one of y's prefixes. A text of x|y is one of x or one of y. Every
// step errs towards more texts.
type info struct {
	exact          []str
	prefix, suffix []str
	match          postings.Expr
}

var (
	emptySet = []str{{}}
	anything = info{prefix: emptySet, suffix: emptySet, match: postings.All}
	nothing  = info{exact: emptySet}
)

// maxDepth bounds the nesting that is looked into: what is known of a part is
// printed and compared on each level above. Go's parser allows 1000.
const maxDepth = 50

// Expr returns the trigram expression of a parsed regexp.
func Expr(t *syntax.Regexp) postings.Expr { return prune(analyse(t, 0).expr()) }

// Begins returns an expression over literals such that every text that a parsed
// regexp matches begins with one of them, or All if there is no such.
func Begins(t *syntax.Regexp) postings.Expr {
	i := analyse(t, 0)
	if i.exact != nil {
		i = i.open()
	}
	if slices.ContainsFunc(i.prefix, func(x str) bool { return x.s == "" }) {
		return postings.All
	}
	return anyOf(i.prefix)
}

// maxPruned bounds what is compared, which is each with each.
const maxPruned = 300

// prune drops the literals of an And that stand inside another of them, which
// cannot be absent when that one is there.
//
// With more than maxPruned literals that takes longer than to read a list.
func prune(e postings.Expr) postings.Expr {
	a, ok := e.(*postings.And)
	if !ok || len(a.Exprs) > maxPruned {
		return e
	}
	inside := func(x, y postings.Expr) bool {
		lx, ok1 := x.(*postings.Literal)
		ly, ok2 := y.(*postings.Literal)
		return ok1 && ok2 && x != y && lx.WideFold == ly.WideFold &&
			len(lx.Runs[0]) < len(ly.Runs[0]) && strings.Contains(ly.Runs[0], lx.Runs[0]) &&
			(lowerBytes(lx.Exact) == lx.Exact || strings.Contains(ly.Exact, lx.Exact))
	}
	var kept []postings.Expr
	for _, x := range a.Exprs {
		if !slices.ContainsFunc(a.Exprs, func(y postings.Expr) bool { return inside(x, y) }) {
			kept = append(kept, x)
		}
	}
	return postings.NewAnd(kept...)
}

// expr is the condition that all texts of i satisfy.
func (i info) expr() postings.Expr {
	if i.exact != nil {
		return anyOf(i.exact)
	}
	return postings.NewAnd(i.match, anyOf(i.prefix), anyOf(i.suffix))
}

// open gives up exact, keeping what it says as prefix, suffix and match.
func (i info) open() info {
	if i.exact == nil {
		return i
	}
	return info{prefix: prefixes(i.exact), suffix: suffixes(i.exact), match: anyOf(i.exact)}
}

func analyse(t *syntax.Regexp, depth int) info {
	if depth > maxDepth {
		return anything
	}
	switch t.Op {
	case syntax.OpNoMatch:
		return info{prefix: emptySet, suffix: emptySet, match: postings.None}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return nothing
	case syntax.OpLiteral:
		return literalInfo(t.Rune, t.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return classInfo(t.Rune)
	case syntax.OpCapture:
		return analyse(t.Sub[0], depth+1)
	case syntax.OpQuest:
		return alternate(analyse(t.Sub[0], depth+1), nothing)
	case syntax.OpPlus:
		return analyse(t.Sub[0], depth+1).open()
	case syntax.OpRepeat:
		return repeatInfo(t, depth)
	case syntax.OpConcat:
		return concatInfo(t.Sub, depth)
	case syntax.OpAlternate:
		return alternateInfo(t.Sub, depth)
	}
	return anything // AnyChar, AnyCharNotNL, Star
}

// concatInfo joins parts. Their required texts are joined once at the end:
// thousands of pieces would otherwise be copied for each part.
func concatInfo(parts []*syntax.Regexp, depth int) info {
	out := nothing
	var match []postings.Expr
	for _, s := range parts {
		out = join(out, analyse(s, depth+1))
		if out.exact == nil && out.match != postings.All {
			match = append(match, out.match)
			out.match = postings.All
		}
	}
	if out.exact == nil {
		out.match = postings.NewAnd(match...)
	}
	return out
}

// alternateInfo is what is known of the texts of any part, put together once.
func alternateInfo(parts []*syntax.Regexp, depth int) info {
	out := analyse(parts[0], depth+1)
	var match []postings.Expr
	for _, s := range parts[1:] {
		next := analyse(s, depth+1)
		if match == nil {
			if out.exact != nil && next.exact != nil && len(out.exact)+len(next.exact) <= maxSet {
				out = alternate(out, next)
				continue
			}
			match, out = []postings.Expr{out.expr()}, out.open()
		}
		match = append(match, next.expr())
		next = next.open()
		out.prefix = prefixes(slices.Concat(out.prefix, next.prefix))
		out.suffix = suffixes(slices.Concat(out.suffix, next.suffix))
	}
	if match != nil {
		out.match = postings.NewOr(match...)
	}
	return out
}

func repeatInfo(t *syntax.Regexp, depth int) info {
	if t.Min == 0 {
		if t.Max == 1 {
			return alternate(analyse(t.Sub[0], depth+1), nothing)
		}
		if t.Max == 0 {
			return nothing
		}
		return anything
	}
	one := analyse(t.Sub[0], depth+1)
	out := one
	const maxCopies = 4
	for range min(t.Min, maxCopies) - 1 {
		out = join(out, one)
	}
	if t.Max != t.Min || t.Min > maxCopies {
		// More copies may follow: what stands behind does not touch this.
		out = out.open()
		out.suffix = one.open().suffix
	}
	return out
}

// literalInfo joins the runes one by one, since under folding a rune outside
// ASCII is a choice of its spellings.
func literalInfo(runes []rune, fold bool) info {
	out := nothing
	run := []byte(nil)
	flush := func() {
		if len(run) > 0 {
			out = join(out, info{exact: []str{{string(run), fold}}})
			run = run[:0]
		}
	}
	for _, r := range runes {
		switch {
		case r == utf8.RuneError:
			flush()
			out = join(out, anything)
		case fold && r < utf8.RuneSelf:
			run = append(run, postings.Fold(byte(r)))
		case fold && unicode.SimpleFold(r) != r:
			flush()
			out = join(out, classInfo(orbit(r)))
		default:
			run = utf8.AppendRune(run, r)
		}
	}
	flush()
	return out
}

// orbit returns the spellings of r as a character class.
func orbit(r rune) []rune {
	class := []rune{r, r}
	for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
		class = append(class, s, s)
	}
	return class
}

// classInfo spells a small class out. U+FFFD also matches bytes that are not
// UTF-8, so a class with it is anything.
func classInfo(class []rune) info {
	n := 0
	for i := 0; i < len(class); i += 2 {
		if class[i] <= utf8.RuneError && utf8.RuneError <= class[i+1] {
			return anything
		}
		n += int(class[i+1]-class[i]) + 1
	}
	if n > 2*maxClass {
		return rangesInfo(class)
	}
	if n == 0 {
		return info{prefix: emptySet, suffix: emptySet, match: postings.None}
	}
	folded := map[rune]int{}
	for i := 0; i < len(class); i += 2 {
		for r := class[i]; r <= class[i+1]; r++ {
			if r < utf8.RuneSelf {
				folded[rune(postings.Fold(byte(r)))]++
			} else {
				folded[r] = 1
			}
		}
	}
	if len(folded) > maxClass {
		return rangesInfo(class)
	}
	var set []str
	for i := 0; i < len(class); i += 2 {
		for r := class[i]; r <= class[i+1]; r++ {
			if r < utf8.RuneSelf && folded[rune(postings.Fold(byte(r)))] == 2 {
				// Both cases: one string that the index folds anyway. It is spelled
				// with its wide forms only if the class has those, and then they
				// stand for themselves.
				r := rune(postings.Fold(byte(r)))
				set = append(set, str{string(r), !FoldsWide(byte(r))})
				if FoldsWide(byte(r)) {
					set = append(set, str{string(r - 'a' + 'A'), false})
				}
				continue
			}
			set = append(set, str{string(r), false})
		}
	}
	return info{exact: unique(set)}
}

// maxRanges is the most key ranges that a class may stand for.
const maxRanges = 64

// rangesInfo is what is known of a class too large to spell out: if it has no
// rune in ASCII, the first two bytes of its runes, which are rare in most text.
func rangesInfo(class []rune) info {
	if class[0] < utf8.RuneSelf {
		return anything
	}
	var ranges []postings.Range
	for i := 0; i < len(class); i += 2 {
		// Runes of a UTF-8 length follow one another as their bytes do; between
		// lengths a range has to be cut.
		lo, hi := class[i], class[i+1]
		for _, last := range []rune{0x7ff, 0xffff, unicode.MaxRune} {
			if lo > hi || lo > last {
				continue
			}
			a, b := twoBytes(lo), twoBytes(min(hi, last))
			lo = last + 1
			if n := len(ranges); n > 0 && a <= ranges[n-1].Hi {
				ranges[n-1].Hi = max(ranges[n-1].Hi, b+1<<8)
				continue
			}
			ranges = append(ranges, postings.Range{Lo: a, Hi: b + 1<<8})
		}
	}
	if len(ranges) > maxRanges {
		return anything
	}
	return info{prefix: emptySet, suffix: emptySet, match: &postings.Ranges{Ranges: ranges}}
}

// twoBytes returns the first trigram that begins with the first two bytes of r.
func twoBytes(r rune) postings.Trigram {
	if 0xd800 <= r && r <= 0xdfff {
		r = 0xd7ff // surrogates have no UTF-8: their neighbour below will do
	}
	b := utf8.AppendRune(nil, r)
	return postings.MakeTrigram(b[0], b[1], 0)
}

// join is what is known of the texts of a with those of b behind them.
func join(a, b info) info {
	if a.exact != nil && b.exact != nil {
		if x := cross(a.exact, b.exact, maxSet); x != nil {
			return info{exact: x}
		}
	}
	out := info{}
	switch {
	case a.exact != nil && b.exact == nil:
		out.prefix = cross(a.exact, b.prefix, maxSet)
	case a.exact == nil:
		out.prefix = a.prefix
	}
	switch {
	case b.exact != nil && a.exact == nil:
		out.suffix = cross(a.suffix, b.exact, maxSet)
	case b.exact == nil:
		out.suffix = b.suffix
	}
	ao, bo := a.open(), b.open()
	out.match = postings.NewAnd(ao.match, bo.match)
	if seam := cross(ao.suffix, bo.prefix, maxSet); seam != nil {
		out.match = postings.NewAnd(out.match, anyOf(seam))
	}
	if out.prefix == nil {
		out.prefix = ao.prefix
	}
	if out.suffix == nil {
		out.suffix = bo.suffix
	}
	out.prefix, out.suffix = prefixes(out.prefix), suffixes(out.suffix)
	return out
}

// alternate is what is known of the texts of a and those of b together.
func alternate(a, b info) info {
	if a.exact != nil && b.exact != nil && len(a.exact)+len(b.exact) <= maxSet {
		return info{exact: unique(append(append([]str(nil), a.exact...), b.exact...))}
	}
	ao, bo := a.open(), b.open()
	return info{
		prefix: prefixes(append(append([]str(nil), ao.prefix...), bo.prefix...)),
		suffix: suffixes(append(append([]str(nil), ao.suffix...), bo.suffix...)),
		match:  postings.NewOr(a.expr(), b.expr()),
	}
}
