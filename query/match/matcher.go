package match

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match/dfa"
	"github.com/trawlsearch/trawl/query/plan"
)

// Matcher is a compiled pattern. It is safe for concurrent use.
type Matcher struct {
	// Expr is the trigram expression of the pattern: what the posting lists of
	// a document that matches satisfy.
	Expr postings.Expr

	// beginnings are needles one of which every match begins with, nil if there
	// are none; begins is what an anchor of just these prints as.
	beginnings needles
	begins     string
	// re is the pattern for Go's engine: the truth that the rest agrees with. That
	// of a literal is compiled when it is asked for, which few texts do.
	re func() *regexp.Regexp
	// size is about how many instructions re has, and behind finds its first
	// match behind one rune.
	size   int
	behind func() *regexp.Regexp
	// automaton runs the pattern where Go's engine would be slow; nil when it
	// cannot.
	automaton *dfa.Regexp
	// literal is set when the pattern is exact text that literalNeedle finds.
	literal bool
	needle  needle
	// wide says that a text with wideRunes in it may match where needle sees
	// nothing, so re has to look.
	wide bool
	// inLine says that no match holds a newline and that whether a line
	// matches depends on that line only.
	inLine bool
	// nullable says that the empty string may match.
	nullable bool
	// reach is the most bytes a literal match may have.
	reach int
}

// Compile compiles a literal or RE2 text. A regexp runs in multi-line mode.
func Compile(value string, isRegexp, caseSensitive bool) (*Matcher, error) {
	return compile(value, isRegexp, caseSensitive, true)
}

// CompileWhole is Compile without multi-line mode: ^ and $ are where the text
// begins and ends.
func CompileWhole(value string, isRegexp, caseSensitive bool) (*Matcher, error) {
	return compile(value, isRegexp, caseSensitive, false)
}

func compile(value string, isRegexp, caseSensitive, multiLine bool) (*Matcher, error) {
	text := value
	if !isRegexp {
		text = regexp.QuoteMeta(value)
	}
	flags, prefix := syntax.Perl, ""
	if multiLine {
		flags, prefix = flags&^syntax.OneLine, "(?m)"
	}
	if !caseSensitive {
		flags, prefix = flags|syntax.FoldCase, prefix+"(?i)"
	}
	var tree *syntax.Regexp
	if !isRegexp && value != "" && utf8.ValidString(value) {
		tree = literalTree(value, flags)
	} else {
		var err error
		if tree, err = syntax.Parse(text, flags); err != nil {
			return nil, err
		}
	}
	size, height := plan.Size(tree)
	if height > plan.MaxHeight {
		return nil, &syntax.Error{Code: syntax.ErrNestingDepth, Expr: text}
	}
	m := &Matcher{size: size, Expr: plan.Expr(tree), inLine: inLine(tree)}
	m.behind = sync.OnceValue(func() *regexp.Regexp { return compileBehind(prefix + text) })
	if lit, fold, ok := literalText(tree); ok {
		m.setLiteral(lit, fold)
	}
	if m.literal {
		m.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(prefix + text) })
		return m, nil
	}
	re, err := regexp.Compile(prefix + text)
	if err != nil {
		return nil, err
	}
	m.re = func() *regexp.Regexp { return re }
	m.nullable = re.MatchString("")
	if !m.nullable {
		// An error says that Go's engine has to do.
		m.automaton, _ = dfa.Compile(tree)
		if m.automaton != nil {
			m.setBeginnings(plan.Begins(tree))
		}
	}
	return m, nil
}

// literalTree returns what the parser makes of a text that is quoted.
func literalTree(text string, flags syntax.Flags) *syntax.Regexp {
	runes := []rune(text)
	if flags&syntax.FoldCase != 0 {
		for i, r := range runes {
			for fold := unicode.SimpleFold(r); fold != r; fold = unicode.SimpleFold(fold) {
				runes[i] = min(runes[i], fold)
			}
		}
	}
	return &syntax.Regexp{Op: syntax.OpLiteral, Flags: flags, Rune: runes}
}

// minBeginning is the shortest needle that stands rarely enough to look at
// each place.
const minBeginning = 3

func (m *Matcher) setBeginnings(e postings.Expr) {
	n := beginningNeedles(e)
	if !slices.ContainsFunc(n, func(f finder) bool { return len(f.text) < minBeginning }) {
		m.beginnings, m.begins = n, e.String()
	}
}

// literalText returns the text of a tree that is one literal, and whether case
// is folded. The flags of the parsed tree need not be those of its literal:
// (?i:a){1} folds and its repetition does not. Runes that no text decodes to
// have no bytes to look for.
func literalText(t *syntax.Regexp) (text string, fold, ok bool) {
	t = t.Simplify()
	for t.Op == syntax.OpCapture {
		t = t.Sub[0]
	}
	if t.Op != syntax.OpLiteral || slices.ContainsFunc(t.Rune, func(r rune) bool { return r == utf8.RuneError || !utf8.ValidRune(r) }) {
		return "", false, false
	}
	return string(t.Rune), t.Flags&syntax.FoldCase != 0, true
}

// setLiteral chooses needle search where it gives what re would: for exact
// text, and for folded text whose letters outside ASCII have no other case.
func (m *Matcher) setLiteral(lit string, fold bool) {
	m.reach = len(lit)
	if !fold {
		m.literal, m.needle = true, newNeedle(lit, false)
		return
	}
	for _, r := range lit {
		if r >= utf8.RuneSelf && unicode.SimpleFold(r) != r {
			return
		}
		if r < utf8.RuneSelf && plan.FoldsWide(byte(r)) {
			m.wide = true
		}
	}
	m.literal, m.needle = true, newNeedle(lit, true)
	m.reach = 3 * len(lit)
}

// inLine reports whether no match of t holds a newline and none depends on
// text beyond its line.
func inLine(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpLiteral:
		return !slices.Contains(t.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(t.Rune); i += 2 {
			if t.Rune[i] <= '\n' && '\n' <= t.Rune[i+1] {
				return false
			}
		}
		return true
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return false
	}
	for _, s := range t.Sub {
		if !inLine(s) {
			return false
		}
	}
	return true
}

// Short appends all non-empty matches in a short text, such as a path, and
// reports whether there was any match.
func (m *Matcher) Short(dst []Span, text string) ([]Span, bool) {
	return m.FindBytes(dst, []byte(text))
}

// wideRunes are the runes outside ASCII that fold to ASCII letters.
var wideRunes = [][]byte{[]byte("\u017f"), []byte("\u212a")}

func hasWide(text []byte) bool {
	return bytes.Contains(text, wideRunes[0]) || bytes.Contains(text, wideRunes[1])
}
