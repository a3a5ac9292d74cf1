package cost

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/trawlsearch/trawl/query"
)

// VariableError is a variable whose value is not of its type.
type VariableError struct {
	Message      string
	Line, Column int
}

func (e *VariableError) Error() string { return e.Message }

// CheckVariables returns a *VariableError for the first variable of an operation
// that is given a value of another scalar than its type. A document that has one
// operation needs no name. Scalars that the schema defines, members of inputs and
// null are left to the schema.
func CheckVariables(document, operation string, variables map[string]any) error {
	if len(variables) == 0 || len(document) > maxParsedBytes {
		return nil
	}
	doc, err := parse(document)
	if err != nil {
		return err
	}
	for _, op := range doc.Operations {
		if op.Name != operation && (operation != "" || len(doc.Operations) > 1) {
			continue
		}
		for _, v := range op.VariableDefinitions {
			value := variables[v.Variable]
			if fits(v.Type, value) {
				continue
			}
			found, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("encode variable %q: %w", v.Variable, err)
			}
			shown := query.Shorten(string(found))
			return &VariableError{
				Message: fmt.Sprintf("Variable %q has invalid value %s.\nExpected type %q, found %s.", v.Variable, shown, v.Type.String(), shown),
				Line:    v.Position.Line, Column: v.Position.Column,
			}
		}
	}
	return nil
}

// fits reports whether a value of JSON may be one of a type. One value may stand
// for a list of it.
func fits(t *ast.Type, value any) bool {
	if value == nil {
		return true
	}
	if list, ok := value.([]any); ok && t.Elem != nil {
		for _, v := range list {
			if !fits(t.Elem, v) {
				return false
			}
		}
		return true
	}
	if t.Elem != nil {
		return fits(t.Elem, value)
	}
	switch t.NamedType {
	case "String", "ID":
		_, ok := value.(string)
		return ok
	case "Boolean":
		_, ok := value.(bool)
		return ok
	case "Float":
		_, ok := value.(float64)
		return ok
	case "Int":
		n, ok := value.(float64)
		return ok && n == math.Trunc(n) && math.MinInt32 <= n && n <= math.MaxInt32
	}
	return true
}
