package cost

import (
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// maxParsedBytes is the length of a document up to which it is parsed. It is
// far above what clients write; parsing that much takes some 10 ms and 10 MB.
const maxParsedBytes = 128 << 10

// maxScannedBytes is how much of a longer document is looked at: two megabytes of
// aliases would take half a second to count.
const maxScannedBytes = 2 * maxParsedBytes

// MaxDocumentBytes is the length of a document beyond which Estimate fails
// with a *LengthError.
const MaxDocumentBytes = maxParsedBytes

// LengthError is a document that is too long to be parsed.
type LengthError struct{ Bytes int }

func (e *LengthError) Error() string {
	return fmt.Sprintf("query length %d exceeds the maximum allowed query length of %d bytes", e.Bytes, MaxDocumentBytes)
}

// SyntaxError is a document that is no GraphQL.
type SyntaxError struct {
	Message      string
	Line, Column int
}

func (e *SyntaxError) Error() string { return "syntax error: " + e.Message }

// Estimate counts what a document asks for. Beside a *LengthError, Aliases are
// counted nevertheless, in the first 256 KiB; beside a *SyntaxError nothing is. What validation will
// refuse, such as a fragment that spreads itself or a variable that is missing,
// counts as little as it can.
//
// The numbers are those of the API's second algorithm. A unit is an operation
// or a named fragment. The fields of a selection count as often as the
// arguments first and last around it say, multiplied; fields called nodes or
// __typename do not count, and of the inline fragments of a unit only the
// most expensive does. A spread adds the fragment's fields and aliases, and
// with them the unit is at least as unique and as repetitive as what it
// spreads. Depth is that of operations, spreads left out: the schema's own
// limit sees those.
func Estimate(document string, variables map[string]any) (Cost, error) {
	if len(document) > maxParsedBytes {
		s, err := scan(document[:min(len(document), maxScannedBytes)])
		if err != nil && len(document) <= maxScannedBytes {
			return Cost{}, syntaxError(err)
		}
		return Cost{Aliases: s.aliases}, &LengthError{len(document)}
	}
	doc, err := parse(document)
	if err != nil {
		return Cost{}, err
	}
	e := estimate{variables: variables, fragments: map[string]*ast.FragmentDefinition{}, units: map[string]*unit{}, widths: map[string]int{}}
	for _, f := range doc.Fragments {
		if e.fragments[f.Name] == nil {
			e.fragments[f.Name] = f
		}
	}
	return e.document(doc), nil
}

// parse reads a document that is short enough. The error is a *SyntaxError.
func parse(document string) (*ast.QueryDocument, error) {
	s, err := scan(document)
	if err != nil {
		return nil, syntaxError(err)
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: s.withoutEmpty(document)})
	if err != nil {
		return nil, syntaxError(err)
	}
	return doc, nil
}

func syntaxError(err error) error {
	var at *gqlerror.Error
	if !errors.As(err, &at) {
		return &SyntaxError{Message: err.Error()}
	}
	out := &SyntaxError{Message: at.Message}
	if len(at.Locations) > 0 {
		out.Line, out.Column = at.Locations[0].Line, at.Locations[0].Column
	}
	return out
}

// estimate is the counting of one document.
type estimate struct {
	variables map[string]any
	fragments map[string]*ast.FragmentDefinition
	// units are the fragments counted so far; nil is one being counted.
	units map[string]*unit
	// widths are how many fields the fragments have themselves.
	widths map[string]int
}

// document counts the operations, those that will not run too.
func (e *estimate) document(doc *ast.QueryDocument) Cost {
	c := Cost{Fields: 1, Depth: 1}
	fields := 0
	for _, op := range doc.Operations {
		u := e.count(op.SelectionSet, op.VariableDefinitions)
		fields = add(fields, u.fields)
		c.Aliases = add(c.Aliases, u.aliases)
		c.InnerAliases = add(c.InnerAliases, u.aliases-u.outer)
		c.UniqueFields = add(c.UniqueFields, u.unique)
		c.Depth = max(c.Depth, u.depth)
		c.DuplicateFields = max(c.DuplicateFields, u.duplicates)
		if op.Operation == ast.Mutation {
			c.Mutations = max(c.Mutations, e.width(op.SelectionSet))
		}
	}
	c.Fields = max(c.Fields, fields)
	// A fragment that nothing spreads is refused by validation, but what it
	// costs to find that out is bounded like the rest.
	for _, f := range doc.Fragments {
		u := e.count(f.SelectionSet, nil)
		c.Aliases = max(c.Aliases, u.aliases)
		c.UniqueFields = max(c.UniqueFields, u.unique)
		c.DuplicateFields = max(c.DuplicateFields, u.duplicates)
	}
	return c
}

// fragment counts a named fragment, once. One that is not there, or spreads
// itself, is worth nothing.
func (e *estimate) fragment(name string) unit {
	if u, counted := e.units[name]; counted {
		if u == nil {
			return unit{}
		}
		return *u
	}
	def := e.fragments[name]
	if def == nil {
		return unit{}
	}
	e.units[name] = nil
	u := e.count(def.SelectionSet, nil)
	e.units[name] = &u
	return u
}

// width counts the fields of a selection itself, with those of the fragments that
// it spreads.
func (e *estimate) width(set ast.SelectionSet) (n int) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Name != "__typename" {
				n = add(n, 1)
			}
		case *ast.InlineFragment:
			n = add(n, e.width(s.SelectionSet))
		case *ast.FragmentSpread:
			n = add(n, e.fragmentWidth(s.Name))
		}
	}
	return n
}

// fragmentWidth is width of a named fragment, counted once; 0 for one that is not
// there or spreads itself.
func (e *estimate) fragmentWidth(name string) int {
	if n, counted := e.widths[name]; counted {
		return n
	}
	e.widths[name] = 0
	if def := e.fragments[name]; def != nil {
		e.widths[name] = e.width(def.SelectionSet)
	}
	return e.widths[name]
}

// Sums and products stay at the most that an int32 holds, which is above every
// limit and within what clients read.
const most = 1<<31 - 1

func add(a, b int) int { return min(a+b, most) }

func multiply(a, b int) int {
	if a != 0 && b > most/a {
		return most
	}
	return a * b
}
