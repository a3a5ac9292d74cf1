package bench

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed queries
var querySets embed.FS

// QuerySet returns a query set that ships with the program: "kernel" for the
// Linux kernel tree, "small" for generated corpora.
func QuerySet(name string) ([]Query, error) {
	text, err := querySets.ReadFile("queries/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("no query set %q; there are \"kernel\" and \"small\"", name)
	}
	return ParseQueries(string(text))
}

// ParseQueries reads a query file: blocks of "field: value" lines divided by
// blank lines, with comments on lines that start with "#". The fields are those
// of README.md. A value is everything after the first ": ", outer space cut.
func ParseQueries(text string) ([]Query, error) {
	var queries []Query
	err := eachBlock(text, func(block []field) error {
		q, err := parseBlock(block)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(queries, func(o Query) bool { return o.Name == q.Name }) {
			return fmt.Errorf("line %d: name %q is taken", block[0].line, q.Name)
		}
		queries = append(queries, q)
		return nil
	})
	return queries, err
}

// eachBlock calls f with the fields of block after block.
func eachBlock(text string, f func([]field) error) error {
	var block []field
	end := func() error {
		if len(block) == 0 {
			return nil
		}
		whole := block
		block = nil
		return f(whole)
	}
	line := 0
	for row := range strings.Lines(text) {
		line++
		row = strings.TrimSpace(row)
		if row == "" {
			if err := end(); err != nil {
				return err
			}
			continue
		}
		if strings.HasPrefix(row, "#") {
			continue
		}
		name, value, ok := strings.Cut(row, ":")
		if !ok {
			return fmt.Errorf("line %d: %q is not \"field: value\"", line, row)
		}
		block = append(block, field{line, name, strings.TrimSpace(value)})
	}
	return end()
}

type field struct {
	line        int
	name, value string
}

// repeatable are the fields that add up; any other may stand once in a block.
var repeatable = []string{"literal", "regexp", "without", "without-regexp", "glob", "path"}

func parseBlock(fields []field) (Query, error) {
	q := Query{PatternType: "keyword", Results: Bounds{Min: 0, Max: -1}}
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.name] && !slices.Contains(repeatable, f.name) {
			return q, fmt.Errorf("line %d: %s stands twice in this block", f.line, f.name)
		}
		seen[f.name] = true
		if err := q.set(f.name, f.value); err != nil {
			return q, fmt.Errorf("line %d: %w", f.line, err)
		}
	}
	if err := q.complete(seen); err != nil {
		return q, fmt.Errorf("block at line %d: %w", fields[0].line, err)
	}
	return q, nil
}

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// setName takes the value of a field that is a name.
func setName(to *string, field, value string) error {
	if !nameForm.MatchString(value) {
		return fmt.Errorf("%s %q: use lower-case words with dashes", field, value)
	}
	*to = value
	return nil
}

func (q *Query) set(name, value string) (err error) {
	if value == "" {
		return fmt.Errorf("%s has no value", name)
	}
	switch name {
	case "name":
		return setName(&q.Name, name, value)
	case "kind":
		q.Kind, err = oneOf(value, Literal, Regexp, Boolean, Path, Repository, Limited)
	case "frequency":
		q.Frequency, err = oneOf(value, Absent, Rare)
	case "goal":
		q.Goal, err = oneOf(value, goalNames()...)
	case "phases":
		q.Phases, err = readPhases(value)
	case "type":
		q.PatternType, err = oneOf(value, "keyword", "standard", "regexp", "literal")
	case "query":
		q.Text = value
	case "results":
		q.Results, err = parseBounds(value)
	case "compare":
		q.Scope, err = oneOf(value, Lines, Files)
	case "join":
		_, err = oneOf(value, "any", "all")
		q.All = value == "all"
	case "relation":
		_, err = oneOf(value, "equal", "part")
		q.Part = value == "part"
	case "literal":
		q.Terms = append(q.Terms, Term{Text: value})
	case "regexp":
		q.Terms = append(q.Terms, Term{Text: value, IsRegexp: true})
	case "without":
		q.Without = append(q.Without, Term{Text: value})
	case "without-regexp":
		q.Without = append(q.Without, Term{Text: value, IsRegexp: true})
	case "glob":
		q.Globs = append(q.Globs, value)
	case "path":
		q.PathRegexps = append(q.PathRegexps, value)
	default:
		return fmt.Errorf("unknown field %q", name)
	}
	return err
}

// readPhases reads words that name phases.
func readPhases(value string) ([]Phase, error) {
	var phases []Phase
	for word := range strings.FieldsSeq(value) {
		p, err := oneOf(word, ColdPhase, ClientsPhase, GrowthPhase)
		if err != nil {
			return nil, err
		}
		phases = append(phases, p)
	}
	return phases, nil
}

// complete fills in what a block may leave out and refuses what cannot be run.
func (q *Query) complete(seen map[string]bool) error {
	for _, need := range []string{"name", "kind", "query"} {
		if !seen[need] {
			return fmt.Errorf("%s is missing", need)
		}
	}
	switch {
	case len(q.PathRegexps) > 0 && len(q.Terms) > 0:
		return fmt.Errorf("path cannot stand with literal or regexp; filter by glob")
	case len(q.PathRegexps) > 0:
		q.Scope = Paths
	case len(q.Terms) == 0:
		q.Scope = Nothing
	case q.Scope == "":
		q.Scope = Lines
	}
	if !seen["results"] {
		switch q.Frequency {
		case Absent:
			q.Results = Bounds{0, 0}
		case Rare:
			q.Results = Bounds{1, maxRare}
		}
	}
	for _, t := range slices.Concat(q.Terms, q.Without) {
		if err := t.check(); err != nil {
			return err
		}
	}
	for _, p := range q.PathRegexps {
		if _, err := regexp.Compile(p); err != nil {
			return fmt.Errorf("path %q: %w", p, err)
		}
	}
	return nil
}

// maxRare is the most results that still count as rare, and so the most for
// which an answer within the target for rare ones can be asked.
const maxRare = 100

func oneOf[T ~string](value string, allowed ...T) (T, error) {
	if slices.Contains(allowed, T(value)) {
		return T(value), nil
	}
	return "", fmt.Errorf("%q is none of %q", value, allowed)
}

// parseBounds reads "7", ">0", ">=7" or "<=7".
func parseBounds(s string) (Bounds, error) {
	digits := strings.TrimLeft(s, "<>=")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return Bounds{}, fmt.Errorf("results %q: want a form like 7, >0, >=7 or <=7", s)
	}
	switch strings.TrimSuffix(s, digits) {
	case "":
		return Bounds{n, n}, nil
	case ">":
		return Bounds{n + 1, -1}, nil
	case ">=":
		return Bounds{n, -1}, nil
	case "<=":
		return Bounds{0, n}, nil
	}
	return Bounds{}, fmt.Errorf("results %q: want a form like 7, >0, >=7 or <=7", s)
}
