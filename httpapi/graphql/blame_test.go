package graphql_test

import (
	"strings"
	"testing"
)

// Clients send null for a bound that they do not have, or leave it out.
func TestBlameWithoutBounds(t *testing.T) {
	w := newWorld(t)
	const document = `query($s: Int, $e: Int) { repository(name: "lab/kiln") { commit(rev: "HEAD") { blob(path: "main.go") { blame(startLine: $s, endLine: $e) { startLine endLine } } } } }`
	whole := w.ask(strings.Replace(strings.Replace(document, "(startLine: $s, endLine: $e)", "", 1), "query($s: Int, $e: Int) ", "", 1), nil)
	if strings.Contains(whole, "errors") || !strings.Contains(whole, `"startLine": 1`) && !strings.Contains(whole, `"startLine":1`) {
		t.Fatalf("without arguments: got %s", whole)
	}
	for name, variables := range map[string]map[string]any{
		"null":     {"s": nil, "e": nil},
		"left out": {},
		"a start":  {"s": 1, "e": nil},
	} {
		if got := w.ask(document, variables); got != whole {
			t.Errorf("%s: got %s, want %s", name, got, whole)
		}
	}
}
