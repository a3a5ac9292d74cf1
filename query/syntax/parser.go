package syntax

import (
	"errors"

	"github.com/trawlsearch/trawl/query"
)

// parser builds the tree of a text by recursive descent:
//
//	or     = and { OR and }
//	and    = leaves { AND leaves }
//	leaves = leaf { leaf }
//	leaf   = filter | pattern | NOT (filter | pattern) | "(" or ")"
type parser struct {
	*scanner
	depth  int
	leaves int
	// groupEnd is where the last group closed, -1 if none has.
	groupEnd int
	// sawOr and clarified feed the decision on lifting filters: parentheses
	// around a part of an "or" say that the writer has decided the scope.
	sawOr, clarified bool
}

// tree is a parsed text before anything is rewritten.
type tree struct {
	root      node
	clarified bool
	// unclosed says that a parenthesis stayed open, so that all were read as
	// text.
	unclosed bool
}

// parseTree reads text in one pattern type. Parentheses that stay open, or an
// operator without an operand, have the text read once more with parentheses
// as ordinary characters.
func parseTree(text string, pt query.PatternType) (tree, error) {
	s := newScanner(text, pt)
	begin := *s
	t, err := (&parser{scanner: s, groupEnd: -1}).parse()
	missing := errors.Is(err, ErrMissingOperand)
	if !missing && !errors.Is(err, errUnclosed) {
		return t, err
	}
	begin.plainParens = true
	t, again := (&parser{scanner: &begin, groupEnd: -1}).parse()
	t.unclosed = !missing
	if again == nil {
		return t, nil
	}
	if missing || errors.Is(again, ErrMissingOperand) {
		return tree{}, again
	}
	return tree{}, unbalanced()
}

func (p *parser) parse() (tree, error) {
	root, err := p.or()
	if err != nil {
		return tree{}, err
	}
	return tree{root: root, clarified: p.clarified}, nil
}

func (p *parser) or() (node, error) {
	return p.operands(or, p.and)
}

func (p *parser) and() (node, error) {
	return p.operands(and, p.side)
}

// operands reads next, { op, next }.
func (p *parser) operands(op operator, next func() (node, error)) (node, error) {
	var kids []node
	for {
		k, err := next()
		if err != nil {
			return nil, err
		}
		kids = append(kids, k)
		found, n := p.operator()
		if found != op {
			return join(op, kids), nil
		}
		p.pos += n
		if op == or {
			p.sawOr = true
			p.clarified = p.clarified || p.groupEnd >= 0
		}
	}
}

func (p *parser) operator() (operator, int) {
	p.skipSpace()
	return p.binary(p.pos == p.groupEnd)
}

// side reads leaves standing side by side.
func (p *parser) side() (node, error) {
	var kids []node
	for {
		op, _ := p.operator()
		if op != run || p.done() || p.at(')') && !p.plainParens {
			break
		}
		k, err := p.leaf()
		if err != nil {
			return nil, err
		}
		kids = append(kids, k)
	}
	if p.at(')') && !p.plainParens && p.depth == 0 {
		return nil, parenthesis(p.pt, p.pos)
	}
	if len(kids) == 0 {
		return nil, missingOperand(p.pos)
	}
	return join(run, kids), nil
}

func (p *parser) leaf() (node, error) {
	if p.at('(') && !p.plainParens {
		if l, ok := p.literalGroup(); ok {
			return p.counted(l)
		}
		return p.group()
	}
	if p.not() {
		return p.negated()
	}
	return p.positive()
}

// positive reads one filter or pattern.
func (p *parser) positive() (node, error) {
	l, err := p.filter()
	if err != nil {
		return nil, err
	}
	if l == nil {
		l = p.pattern()
	}
	return p.counted(l)
}

func (p *parser) counted(l *leaf) (node, error) {
	if p.leaves++; p.leaves > maxLeaves {
		return nil, tooManyLeaves(l.span())
	}
	l.depth = p.depth
	return l, nil
}

func (p *parser) negated() (node, error) {
	from := p.pos
	p.pos += len("not")
	p.skipSpace()
	if p.at('(') {
		return nil, expressionAfterNot(query.Span{Start: from, End: p.pos + 1})
	}
	n, err := p.positive()
	if err != nil {
		return nil, err
	}
	l := n.(*leaf)
	if l.filter == nil {
		l.negated = true
		l.pattern.Span.Start = from
		return l, nil
	}
	if l.filter.Negated {
		return nil, notBeforeMinus(l.typed, l.filter.Value, query.Span{Start: from, End: p.pos})
	}
	l.filter.Negated = true
	l.filter.Span.Start = from
	return l, nil
}

// group reads a parenthesised expression. Nothing between the parentheses is
// the text "()".
func (p *parser) group() (node, error) {
	from := p.pos
	p.pos++
	p.skipSpace()
	if p.at(')') {
		p.pos++
		return p.counted(&leaf{pattern: &query.Pattern{
			Value: "()", IsRegexp: p.pt == query.Regexp, Span: query.Span{Start: from, End: p.pos},
		}})
	}
	if p.depth++; p.depth > maxDepth {
		return nil, tooDeep(from)
	}
	p.clarified = p.clarified || p.sawOr
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if !p.at(')') {
		return nil, errUnclosed
	}
	p.pos++
	p.depth--
	p.groupEnd = p.pos
	return n, nil
}
