package cost

import (
	"encoding/json"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// unit is what was counted of an operation or a named fragment.
type unit struct {
	fields, aliases, depth, unique, duplicates int
	// outer are the aliases that stand in no selection of a field.
	outer int
}

// walk is the counting of one unit.
type walk struct {
	*estimate
	declared ast.VariableDefinitionList

	u unit
	// names counts the occurrences of each field name.
	names map[string]int
	// inline holds the fields of the inline fragments by type; a later one on
	// the same type replaces an earlier one.
	inline map[string]int
	// spread are the fragments counted in unique.
	spread       map[string]bool
	spreadUnique int
}

func (e *estimate) count(set ast.SelectionSet, declared ast.VariableDefinitionList) unit {
	w := walk{estimate: e, declared: declared, names: map[string]int{}, inline: map[string]int{}, spread: map[string]bool{}}
	w.set(set, 1, 1, nil)
	for _, n := range w.names {
		if n > 1 {
			w.u.duplicates = max(w.u.duplicates, n)
		}
	}
	w.u.unique = max(len(w.names), w.spreadUnique)
	largest := 0
	for _, n := range w.inline {
		largest = max(largest, n)
	}
	w.u.fields = add(w.u.fields, largest)
	return w.u
}

// set counts a selection set that stands at a depth and is answered times
// over. inline, if not nil, takes the fields of the inline fragment at hand.
func (w *walk) set(set ast.SelectionSet, times, depth int, inline *int) {
	if len(set) == 0 {
		return
	}
	w.u.depth = max(w.u.depth, depth)
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			w.field(s, times, depth, inline)
		case *ast.InlineFragment:
			if s.TypeCondition == "" {
				w.set(s.SelectionSet, times, depth, inline) // part of the selection around it
				continue
			}
			fields := 0
			w.set(s.SelectionSet, times, depth+1, &fields)
			w.inline[s.TypeCondition] = fields
		case *ast.FragmentSpread:
			w.named(s.Name, times, inline)
		}
	}
}

// MaxServices is how many external services a page has at most. A client that
// looks for one by its name asks for 99,999, which count as what they can be.
const MaxServices = 1000

func (w *walk) field(f *ast.Field, times, depth int, inline *int) {
	w.names[f.Name]++
	if f.Alias != f.Name {
		w.u.aliases = add(w.u.aliases, 1)
		if depth == 1 {
			w.u.outer++
		}
	}
	if f.Name != "nodes" && f.Name != "__typename" {
		if inline != nil {
			*inline = add(*inline, times)
		} else {
			w.u.fields = add(w.u.fields, times)
		}
	}
	length := w.length(f.Arguments)
	if f.Name == "externalServices" {
		length = min(length, MaxServices)
	}
	w.set(f.SelectionSet, multiply(times, length), depth+1, inline)
}

// named counts a spread. Inside an inline fragment it counts for both, as the
// API has it.
func (w *walk) named(name string, times int, inline *int) {
	u := w.fragment(name)
	fields := multiply(u.fields, times)
	w.u.fields = add(w.u.fields, fields)
	if inline != nil {
		*inline = add(*inline, fields)
	}
	w.u.aliases = add(w.u.aliases, u.aliases)
	w.u.duplicates = max(w.u.duplicates, u.duplicates)
	if !w.spread[name] {
		w.spread[name] = true
		w.spreadUnique = add(w.spreadUnique, u.unique)
	}
}

// length is how many entries the arguments ask for; 1 if they do not say.
func (w *walk) length(args ast.ArgumentList) int {
	length := 1
	for _, a := range args {
		if a.Name != "first" && a.Name != "last" || a.Value == nil {
			continue
		}
		n := 0
		switch a.Value.Kind {
		case ast.IntValue:
			n = whole(a.Value.Raw)
		case ast.Variable:
			n = w.variable(a.Value.Raw)
		}
		if n > 0 {
			length = n
		}
	}
	return length
}

// variable reads a number that was given or, if none was, declared; 0 is none.
func (w *walk) variable(name string) int {
	given, ok := w.variables[name]
	if !ok {
		def := w.declared.ForName(name)
		if def == nil || def.DefaultValue == nil || def.DefaultValue.Kind != ast.IntValue {
			return 0
		}
		return whole(def.DefaultValue.Raw)
	}
	switch v := given.(type) {
	case float64:
		return int(min(max(v, 0), most))
	case json.Number:
		return whole(v.String())
	case string:
		return whole(v)
	}
	return 0
}

// whole reads a number, cut to a whole one and to most; 0 is what cannot be
// read.
func whole(text string) int {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && f == 0 || f != f {
		return 0
	}
	return int(min(max(f, 0), most))
}
