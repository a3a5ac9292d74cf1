package cost_test

import (
	"encoding/json"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
)

// A value of another type is refused by the name of its variable.
func TestCheckVariables(t *testing.T) {
	for _, tt := range []struct{ document, operation, variables, want string }{
		{`query($n: String!) { a(n: $n) }`, "", `{"n": 123}`, "Variable \"n\" has invalid value 123.\nExpected type \"String!\", found 123."},
		{`query($n: String) { a(n: $n) }`, "", `{"n": {"x": 1}}`, "Variable \"n\" has invalid value {\"x\":1}.\nExpected type \"String\", found {\"x\":1}."},
		{`query($n: ID!) { a(n: $n) }`, "", `{"n": 5}`, "Variable \"n\" has invalid value 5.\nExpected type \"ID!\", found 5."},
		{`query($n: Int) { a(n: $n) }`, "", `{"n": "5"}`, "Variable \"n\" has invalid value \"5\".\nExpected type \"Int\", found \"5\"."},
		{`query($n: Int) { a(n: $n) }`, "", `{"n": 1.5}`, "Variable \"n\" has invalid value 1.5.\nExpected type \"Int\", found 1.5."},
		{`query($n: Int) { a(n: $n) }`, "", `{"n": 3000000000}`, "Variable \"n\" has invalid value 3000000000.\nExpected type \"Int\", found 3000000000."},
		{`query($n: Boolean) { a(n: $n) }`, "", `{"n": "true"}`, "Variable \"n\" has invalid value \"true\".\nExpected type \"Boolean\", found \"true\"."},
		{`query($n: [ID!]!) { a(n: $n) }`, "", `{"n": ["x", 5]}`, "Variable \"n\" has invalid value [\"x\",5].\nExpected type \"[ID!]!\", found [\"x\",5]."},
		{`query A($n: Int) { a(n: $n) } query B($n: String) { a(n: $n) }`, "A", `{"n": "x"}`, "Variable \"n\" has invalid value \"x\".\nExpected type \"Int\", found \"x\"."},
		// What fits, or is the schema's to judge.
		{`query A($n: Int) { a(n: $n) } query B($n: String) { a(n: $n) }`, "B", `{"n": "x"}`, ""},
		{`query($n: String, $i: Int!, $f: Float, $b: Boolean, $l: [String]) { a(n: $n) }`, "", `{"n": null, "i": 2, "f": 1, "b": false, "l": ["x", null]}`, ""},
		{`query($l: [ID!]) { a(l: $l) }`, "", `{"l": "one"}`, ""},
		{`query($n: DateTime, $k: Kind, $i: Input) { a(n: $n) }`, "", `{"n": 5, "k": 5, "i": {"n": 5}}`, ""},
		{`query($n: String) { a(n: $n) }`, "", `{"other": 5}`, ""},
	} {
		var variables map[string]any
		if err := json.Unmarshal([]byte(tt.variables), &variables); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := cost.CheckVariables(tt.document, tt.operation, variables); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("CheckVariables(%s, %q, %s) = %q, want %q", tt.document, tt.operation, tt.variables, got, tt.want)
		}
	}
}
