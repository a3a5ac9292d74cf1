package cost_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/internal/race"
)

const services = `{ externalServices(first: 10) { nodes { displayName webhookURL } } somethingElse }`

const servicesOfVariable = `query Q($first: Int = 10) { externalServices(first: $first) { nodes { displayName webhookURL } } }`

const status = `
query StatusMessages { statusMessages { ...F } }
fragment F on StatusMessage {
  __typename
  ... on CloningProgress { message }
  ... on SyncError { message }
  ... on ExternalServiceSyncError { message externalService { id displayName } }
}`

func TestEstimate(t *testing.T) {
	type vars = map[string]any
	tests := []struct {
		document  string
		variables vars
		want      cost.Cost
	}{
		// the API's own vectors
		{`{ thing } { thing }`, nil, cost.Cost{Fields: 2, UniqueFields: 2, Depth: 1}},
		{`{ site { productVersion buildVersion hasCodeIntelligence } }`, nil, cost.Cost{Fields: 4, UniqueFields: 4, Depth: 2}},
		{services, nil, cost.Cost{Fields: 22, UniqueFields: 5, Depth: 3}},
		{servicesOfVariable, vars{"first": 5.0}, cost.Cost{Fields: 11, UniqueFields: 4, Depth: 3}},
		{servicesOfVariable, nil, cost.Cost{Fields: 21, UniqueFields: 4, Depth: 3}},
		{`{ __typename ... on Foo { one two } ... on Bar { one } }`, nil, cost.Cost{Fields: 2, UniqueFields: 3, DuplicateFields: 2, Depth: 2}},
		{status, nil, cost.Cost{Fields: 5, UniqueFields: 5, DuplicateFields: 3, Depth: 2}},
		{`{ __typename ...A } fragment A on T { ...B } fragment B on T { one }`, nil, cost.Cost{Fields: 1, UniqueFields: 1, Depth: 1}},
		{`{ node { ...A } } fragment A on T { ... on U { ...B } } fragment B on T { isUsable }`, nil, cost.Cost{Fields: 3, UniqueFields: 1, Depth: 2}},
		{aliases(501), nil, cost.Cost{Fields: 1002, UniqueFields: 2, DuplicateFields: 501, Depth: 2, Aliases: 501}},

		// mutations: the fields of the largest operation, wherever they stand
		{`mutation { a { x } b ...F ... { ...F } __typename } fragment F on M { c ...G } fragment G on M { d ...F }`, nil,
			cost.Cost{Fields: 7, UniqueFields: 4, DuplicateFields: 0, Depth: 2, Mutations: 6}},
		{`query Q { a } mutation M { b c } mutation N { d }`, nil, cost.Cost{Fields: 4, UniqueFields: 4, Depth: 1, Mutations: 2}},

		// at least one field and one level
		{``, nil, cost.Cost{Fields: 1, Depth: 1}},
		{`{ __typename }`, nil, cost.Cost{Fields: 1, UniqueFields: 1, Depth: 1}},

		// what multiplies
		{`{ a(first: 10) { b(last: 3) { c } d } }`, nil, cost.Cost{Fields: 1 + 10 + 30 + 10, UniqueFields: 4, Depth: 3}},
		{`{ a(limit: 10, count: 7) { x } }`, nil, cost.Cost{Fields: 2, UniqueFields: 2, Depth: 2}},
		{`{ a(first: 10) { x } b { y } }`, nil, cost.Cost{Fields: 13, UniqueFields: 4, Depth: 2}}, // no leak to the neighbour
		{`{ a(first: 0) { x } b(first: -4) { y } }`, nil, cost.Cost{Fields: 4, UniqueFields: 4, Depth: 2}},
		{`{ externalServices(first: 99999) { nodes { id kind displayName config createdAt updatedAt } totalCount pageInfo { hasNextPage } } }`, nil, cost.Cost{Fields: 9001, UniqueFields: 11, Depth: 3}},
		{`{ a(first: 99999999) { b(first: 99999999) { c(first: 99999999) { d } } } }`, nil, cost.Cost{Fields: 1<<31 - 1, UniqueFields: 4, Depth: 4}},

		// variables
		{`query($n: Int) { a(first: $n) { x } }`, vars{"n": 2.9}, cost.Cost{Fields: 3, UniqueFields: 2, Depth: 2}},
		{`query($n: Int) { a(first: $n) { x } }`, vars{"n": "12"}, cost.Cost{Fields: 13, UniqueFields: 2, Depth: 2}},
		{`query($n: Int = 9) { a(first: $n) { x } }`, vars{"n": nil}, cost.Cost{Fields: 2, UniqueFields: 2, Depth: 2}},
		{`query($n: Int) { a(first: $n) { x } }`, vars{"n": 1e300}, cost.Cost{Fields: 1<<31 - 1, UniqueFields: 2, Depth: 2}},
		{`query($n: Int!) { a(first: $n) { x } }`, nil, cost.Cost{Fields: 2, UniqueFields: 2, Depth: 2}},
		{`query($n: Int) { a(first: $n) { x } }`, vars{"n": []any{7.0}}, cost.Cost{Fields: 2, UniqueFields: 2, Depth: 2}},
		{`query($n: Int = 9) { ...F } fragment F on Q { a(first: $n) { x } }`, nil, cost.Cost{Fields: 2, UniqueFields: 2, Depth: 1}},
		{`query($n: Int = 9) { ...F } fragment F on Q { a(first: $n) { x } }`, vars{"n": 5.0}, cost.Cost{Fields: 6, UniqueFields: 2, Depth: 1}},

		// fragments
		{`{ a(first: 5) { ...F } } fragment F on T { x: y z }`, nil, cost.Cost{Fields: 11, UniqueFields: 2, Depth: 2, Aliases: 1, InnerAliases: 1}},
		{`{ ... { a b } c }`, nil, cost.Cost{Fields: 3, UniqueFields: 3, Depth: 1}},
		{`{ ...F ...F } fragment F on T { x: y }`, nil, cost.Cost{Fields: 2, UniqueFields: 1, Depth: 1, Aliases: 2, InnerAliases: 2}},

		// aliases below the first level
		{`{ a: x { b: y { z } c: y { z } } d: x { z } }`, nil, cost.Cost{Fields: 7, UniqueFields: 3, DuplicateFields: 3, Depth: 3, Aliases: 4, InnerAliases: 2}},

		// what validation refuses ends all the same
		{`{ ...A } fragment A on T { a ...B } fragment B on T { b ...A }`, nil, cost.Cost{Fields: 2, UniqueFields: 1, Depth: 1}},
		{`{ ...A } fragment A on T { a ...A }`, nil, cost.Cost{Fields: 1, UniqueFields: 1, Depth: 1}},
		{`{ a ...Nowhere }`, nil, cost.Cost{Fields: 1, UniqueFields: 1, Depth: 1}},
		{`{ ...A } fragment A on T { a } fragment A on T { a b c }`, nil, cost.Cost{Fields: 1, UniqueFields: 3, Depth: 1}},
		{`{ a } fragment A on T { a b: b b }`, nil, cost.Cost{Fields: 1, UniqueFields: 2, DuplicateFields: 2, Depth: 1}},

		// what clients write although the grammar does not allow it
		{`{ evaluatedFeatureFlags() { name value } }`, nil, cost.Cost{Fields: 3, UniqueFields: 3, Depth: 2}},
		{"query Q( # none\n ) { ä(a: \"ö\") }", nil, cost.Cost{}},
		{"query Q(, ) { a(s: \"()ö\") { b() } }", nil, cost.Cost{Fields: 2, UniqueFields: 2, Depth: 2}},
		{`{ currentUser { username, id } }`, nil, cost.Cost{Fields: 3, UniqueFields: 3, Depth: 2}},
	}
	for _, tt := range tests {
		got, err := cost.Estimate(tt.document, tt.variables)
		if err != nil && tt.want != (cost.Cost{}) {
			t.Errorf("Estimate(%s, %v): %v", tt.document, tt.variables, err)
		}
		if got != tt.want {
			t.Errorf("Estimate(%.200s, %v)\n got %+v\nwant %+v", tt.document, tt.variables, got, tt.want)
		}
	}
}

// aliases is a document of n fields with names of their own.
func aliases(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		fmt.Fprintf(&b, " a%d: site { id }", i)
	}
	return b.String() + " }"
}

func TestEstimateRefuses(t *testing.T) {
	tests := []struct{ document, want string }{
		{`{ a`, "syntax error"},
		{`{ ä: site { id } }`, "syntax error"},
		{`{ a(s: """ \""" """) }`, "syntax error: a block string may not hold"},
		{strings.Repeat("{ a ", 2000), "syntax error"},
		{"[]", "syntax error"},
	}
	for _, tt := range tests {
		_, err := cost.Estimate(tt.document, nil)
		if syntax := (*cost.SyntaxError)(nil); !errors.As(err, &syntax) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Estimate(%.50s): got %v, want a *SyntaxError with %q", tt.document, err, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	c, err := cost.Estimate(aliases(501), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(cost.Limits{}.Check(c))
	if want := "[{alias count 500 501} {duplicate field count 500 501}]"; got != want {
		t.Errorf("Check of 501 aliases: got %s, want %s", got, want)
	}
	over := cost.Cost{Aliases: 3, Fields: 4, Depth: 5, DuplicateFields: 6, UniqueFields: 7}
	got = fmt.Sprint(cost.Limits{Aliases: 2, Fields: 2, Depth: 2, DuplicateFields: 2, UniqueFields: 2}.Check(over))
	want := "[{alias count 2 3} {field count 2 4} {query depth 2 5} {duplicate field count 2 6} {unique field count 2 7}]"
	if got != want {
		t.Errorf("Check of everything: got %s, want %s", got, want)
	}
	if got := (cost.Limits{Aliases: 3, Fields: 4, Depth: 5, DuplicateFields: 6, UniqueFields: 7}).Check(over); got != nil {
		t.Errorf("Check at the limits: got %v, want none", got)
	}
}

// hostile are documents that mean harm, by the harm they mean.
func hostile() map[string]string {
	var bomb, chain strings.Builder
	bomb.WriteString("{ ...F0 }")
	chain.WriteString("{ ...F0 }")
	for i := range 1500 {
		fmt.Fprintf(&bomb, " fragment F%d on T { x ...F%d ...F%d }", i, i+1, i+1)
		fmt.Fprintf(&chain, " fragment F%d on T { ...F%d }", i, (i+1)%1500)
	}
	return map[string]string{
		"aliases":          aliases(100_000),
		"aliases of fit":   aliases(6000),
		"nested":           strings.Repeat("{a", 30_000) + strings.Repeat("}", 30_000),
		"nested lists":     "{a(x:" + strings.Repeat("[", 60_000) + ")}",
		"fragment bomb":    bomb.String(),
		"fragment cycle":   chain.String(),
		"one long name":    "{" + strings.Repeat("a", 4<<20) + "}",
		"one long string":  `{a(s:"` + strings.Repeat("a", 4<<20) + `")}`,
		"empty arguments":  "{" + strings.Repeat("a()", 40_000) + "}",
		"comments":         strings.Repeat("#\n", 60_000) + "{a}",
		"many operations":  strings.Repeat("{a}", 40_000),
		"many definitions": "query(" + strings.Repeat("$a:A ", 25_000) + "){a}",
	}
}

// A document may be what it likes: it is judged within 50 ms and 50 MB.
func TestEstimateIsCheap(t *testing.T) {
	for name, document := range hostile() {
		var bytes uint64
		took := time.Duration(math.MaxInt64) // the least of some: the machine may be busy
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, _ = cost.Estimate(document, nil)
			took = min(took, time.Since(start))
			runtime.ReadMemStats(&after)
			bytes = after.TotalAlloc - before.TotalAlloc
		}
		if bytes > 25<<20 {
			t.Errorf("%s: %d MB allocated, want at most 25", name, bytes>>20)
		}
		// Thirty times the target: the machine may be busy, but not that much.
		if took > race.Slow()*1500*time.Millisecond {
			t.Errorf("%s took %s", name, took)
		}
	}
}

func BenchmarkEstimate(b *testing.B) {
	for name, document := range hostile() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = cost.Estimate(document, nil)
			}
		})
	}
}

// Whatever the document, counting ends, and says the same twice.
func FuzzEstimate(f *testing.F) {
	for _, d := range []string{services, servicesOfVariable, status, aliases(3), `{ a() b(x: """y""") }`, "query Q(,){a}", `{...{a}}`} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, document string) {
		first, err := cost.Estimate(document, map[string]any{"first": 3.0})
		second, again := cost.Estimate(document, map[string]any{"first": 3.0})
		if first != second || (err == nil) != (again == nil) {
			t.Errorf("Estimate(%q): %+v, %v and then %+v, %v", document, first, err, second, again)
		}
		if err == nil && (first.Fields < 1 || first.Depth < 1 || first.Aliases < 0 || first.UniqueFields < 0) {
			t.Errorf("Estimate(%q) = %+v", document, first)
		}
	})
}

// A fragment in place of what it stands for never costs more.
func TestFragmentsCostNoMore(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		body := ""
		for range 1 + random.IntN(5) {
			body += fmt.Sprintf(" f%d(first: %d) { x nodes { y } }", random.IntN(4), random.IntN(20))
		}
		plain, err := cost.Estimate("{ a(first: 7) {"+body+"} }", nil)
		if err != nil {
			t.Fatal(err)
		}
		spread, err := cost.Estimate("{ a(first: 7) { ...F } } fragment F on T {"+body+"}", nil)
		if err != nil {
			t.Fatal(err)
		}
		if spread.Fields != plain.Fields || spread.UniqueFields > plain.UniqueFields || spread.DuplicateFields != plain.DuplicateFields {
			t.Errorf("%s\n   plain %+v\nfragment %+v", body, plain, spread)
		}
	}
}
