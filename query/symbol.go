package query

import (
	"cmp"
	"slices"
)

// Symbol is a definition whose name matched.
type Symbol struct {
	Name string
	Kind SymbolKind
	// Container is the name of what holds the symbol, or empty.
	Container string
	// Line counts from one, as people and ctags do; Column counts the runes
	// before the name in that line.
	Line, Column uint32
}

// SymbolKind is what a symbol is, as it is written behind select:symbol.; the
// empty one is unknown.
type SymbolKind string

// kindWords lists for each kind the words of ctags that mean it.
var kindWords = map[SymbolKind][]string{
	"file":           {"file"},
	"module":         {"module"},
	"namespace":      {"namespace"},
	"package":        {"package", "packagename", "subprogspec"},
	"class":          {"class", "classes", "type", "service", "typedef", "union", "section", "subtype", "component"},
	"method":         {"accessor", "getter", "method", "methodalias", "methodspec", "setter"},
	"property":       {"property"},
	"field":          {"field", "member", "anonmember", "recordfield"},
	"constructor":    {"constructor"},
	"enum":           {"enum", "enumerator"},
	"interface":      {"interface"},
	"function":       {"function", "func", "subroutine", "macro", "subprogram", "procedure", "command", "singletonmethod"},
	"variable":       {"variable", "var", "functionvar", "define", "alias", "val"},
	"constant":       {"constant", "const"},
	"string":         {"string", "message", "heredoc"},
	"number":         {"number"},
	"boolean":        {"bool", "boolean"},
	"array":          {"array"},
	"object":         {"object", "literal", "map"},
	"key":            {"key", "label", "target", "selector", "id", "tag"},
	"null":           {"null"},
	"enum-member":    {"enum member", "enumconstant", "enummember"},
	"struct":         {"struct"},
	"event":          {"event"},
	"operator":       {"operator"},
	"type-parameter": {"type parameter", "annotation"},
}

// kindOf is kindWords the other way round.
var kindOf = func() map[string]SymbolKind {
	out := map[string]SymbolKind{}
	for kind, words := range kindWords {
		for _, w := range words {
			out[w] = kind
		}
	}
	return out
}()

// SymbolKindOf returns the kind that a word of ctags means.
func SymbolKindOf(word string) SymbolKind { return kindOf[word] }

// compareSymbols orders the symbols of a document as they stand in it.
func compareSymbols(a, b Symbol) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Container, b.Container))
}

// SortSymbols puts symbols in the order of their document, without repeats.
func SortSymbols(symbols []Symbol) []Symbol {
	slices.SortFunc(symbols, compareSymbols)
	return slices.Compact(symbols)
}
