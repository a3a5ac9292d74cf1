package cost

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
)

// scanned is what the tokens of a document tell without a parser.
type scanned struct {
	// aliases counts fields that have another name. Outside of parentheses
	// nothing else has a colon.
	aliases int
	// empty are the places, in runes, of parentheses with nothing between.
	empty []int
}

// scan reads the tokens of a document and holds on to none.
func scan(document string) (scanned, error) {
	var s scanned
	tokens := lexer.New(&ast.Source{Input: document})
	var last lexer.Token
	for parens := 0; ; {
		t, err := tokens.ReadToken()
		if err != nil {
			return s, err
		}
		switch t.Kind {
		case lexer.EOF:
			return s, nil
		case lexer.Comment:
			continue
		case lexer.ParenL:
			parens++
		case lexer.ParenR:
			parens--
			if last.Kind == lexer.ParenL {
				s.empty = append(s.empty, last.Pos.Start, t.Pos.Start)
			}
		case lexer.Colon:
			if parens == 0 {
				s.aliases++
			}
		case lexer.BlockString:
			// Parsers differ in where such a string ends, and what is counted
			// must be what is run.
			if strings.Contains(t.Value, `"""`) {
				return s, gqlerror.ErrorLocf("", t.Pos.Line, t.Pos.Column, `a block string may not hold """`)
			}
		}
		last = t
	}
}

// withoutEmpty takes out empty parentheses, which some clients write and the
// grammar does not allow.
func (s scanned) withoutEmpty(document string) string {
	if len(s.empty) == 0 {
		return document
	}
	runes := []rune(document)
	for _, i := range s.empty {
		runes[i] = ' '
	}
	return string(runes)
}
