package syntax

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/query"
)

// ErrMissingOperand marks the error of an "and" or "or" without a term on one
// side, which is shown to people with another text than the error's own.
// Recognise it with errors.Is.
var ErrMissingOperand = errors.New("missing operand")

// errUnclosed ends the first reading of a text whose parentheses stay open.
var errUnclosed = errors.New("unclosed parenthesis")

// errUnopened marks the error of a parenthesis that closes nothing.
var errUnopened = errors.New("unopened parenthesis")

// errGroupBesideTerm marks the error of an expression in parentheses that some
// pattern types do not take beside a term.
var errGroupBesideTerm = errors.New("group beside a term")

// markedError is a SyntaxError that is also another error.
type markedError struct {
	syntax *query.SyntaxError
	mark   error
}

func (e *markedError) Error() string   { return e.syntax.Error() }
func (e *markedError) Unwrap() []error { return []error{e.syntax, e.mark} }

func missingOperand(at int) error {
	return &markedError{&query.SyntaxError{
		Message: fmt.Sprintf("expected operand at %d", at),
		Span:    query.Span{Start: at, End: at},
		Hint:    `write a term on both sides of the operator, or quote the word, "or"`,
	}, ErrMissingOperand}
}

// parenthesis is the error of a ")" that closes nothing.
func parenthesis(pt query.PatternType, at int) error {
	e := &query.SyntaxError{
		Message: "unsupported expression. The combination of parentheses in the query have an unclear meaning. " +
			"Try using the content: filter to quote patterns that contain parentheses",
		Span: query.Span{Start: at, End: at + 1},
		Hint: `remove this ")", or write content:"…)"`,
	}
	if pt == query.Keyword {
		e.Message = "unsupported expression. The combination of parentheses in the query has an unclear meaning. " +
			`Use "..." to quote patterns that contain parentheses`
		e.Hint = `remove this ")", or quote the pattern that it belongs to`
	}
	return &markedError{e, errUnopened}
}

func unbalanced() error {
	return &query.SyntaxError{Message: "unbalanced expression", Hint: "close every parenthesis that is opened"}
}

func expressionAfterNot(at query.Span) error {
	return &query.SyntaxError{
		Message: "it looks like you tried to use an expression after NOT. The NOT operator can only be used with simple " +
			"search patterns or filters, and is not supported for expressions or subqueries",
		Span: at,
		Hint: "put NOT before each term: NOT a NOT b",
	}
}

func notBeforeMinus(typed, value string, at query.Span) error {
	f := typed + ":" + value
	return &query.SyntaxError{
		Message: fmt.Sprintf("unexpected NOT before \"-%s\". Remove NOT and try again", f),
		Span:    at,
		Hint:    "-" + f,
		Fix:     "-" + f,
	}
}

func groupBesideTerm(at query.Span) error {
	return &markedError{&query.SyntaxError{
		Message: "i'm having trouble understanding that query. The combination of parentheses is the problem. " +
			"Try using the content: filter to quote patterns that contain parentheses",
		Span: at,
		Hint: "write the operator, (a or b) and c, or add patterntype:keyword",
	}, errGroupBesideTerm}
}
