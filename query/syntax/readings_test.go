package syntax_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// reading is one line of testdata/readings.
type reading struct {
	at, number string
	pt         query.PatternType
	text       string
	// want is the s-expression, or the error's message.
	want    string
	fails   bool
	phrases []string
}

// TestReadings parses the queries of testdata/readings. The lines say what the
// language is: a change to one is a change of the language. Filters are written
// in the order they print, before the patterns; the order itself means nothing.
func TestReadings(t *testing.T) {
	for _, c := range readings(t) {
		q, err := syntax.Parse(c.text, c.pt)
		if c.fails {
			if err == nil || err.Error() != c.want {
				t.Errorf("%s #%s: Parse(%q, %s) = %s, error %v, want error %s", c.at, c.number, c.text, c.pt, sexp(q), err, c.want)
			}
			continue
		}
		if err != nil || sexp(q) != c.want {
			t.Errorf("%s #%s: Parse(%q, %s)\n got %s, error %v\nwant %s", c.at, c.number, c.text, c.pt, sexp(q), err, c.want)
			continue
		}
		if got := phrases(q); !slices.Equal(got, c.phrases) {
			t.Errorf("%s #%s: phrases of %q = %q, want %q", c.at, c.number, c.text, got, c.phrases)
		}
	}
}

func sexp(q *query.Query) string {
	if q == nil {
		return "nothing"
	}
	parts := make([]string, len(q.Basics))
	for i, b := range q.Basics {
		parts[i] = b.String()
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(union " + strings.Join(parts, " ") + ")"
}

// phrases returns the phrase of each basic query, nil if none has one.
func phrases(q *query.Query) []string {
	var out []string
	some := false
	for _, b := range q.Basics {
		out = append(out, b.Phrase)
		some = some || b.Phrase != ""
	}
	if !some {
		return nil
	}
	return out
}

func readings(t testing.TB) []reading {
	t.Helper()
	files, err := filepath.Glob("testdata/readings/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no readings in testdata: %v", err)
	}
	var all []reading
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			all = append(all, parseReading(t, filepath.Base(file)+":"+strconv.Itoa(i+1), line))
		}
	}
	return all
}

func parseReading(t testing.TB, at, line string) reading {
	t.Helper()
	columns := strings.Split(line, "\t")
	if len(columns) < 4 {
		t.Fatalf("%s: %d columns, want at least 4: %q", at, len(columns), line)
	}
	r := reading{at: at, number: columns[0], pt: query.PatternType(columns[1])}
	text, err := strconv.Unquote(columns[2])
	if err != nil {
		t.Fatalf("%s: query %s: %v", at, columns[2], err)
	}
	r.text = text
	r.want, r.fails = strings.CutPrefix(strings.ReplaceAll(columns[3], "␤", "\n"), "error: ")
	for _, column := range columns[4:] {
		list, ok := strings.CutPrefix(column, "phrase: ")
		for ok && list != "" {
			quoted, err := strconv.QuotedPrefix(list)
			if err != nil {
				t.Fatalf("%s: phrases %s: %v", at, column, err)
			}
			phrase, _ := strconv.Unquote(quoted)
			r.phrases = append(r.phrases, phrase)
			list = strings.TrimPrefix(list[len(quoted):], " ")
		}
	}
	return r
}
