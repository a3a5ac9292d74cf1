package bench

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed judged
var judgedSets embed.FS

// Judged is a query and what one who types it wants to see first. The judgement
// is a person's, made before any answer was looked at.
type Judged struct {
	Name string `json:"name"`
	// Kind groups queries in the report: definition, file, keywords and so on.
	Kind string `json:"kind"`
	// PatternType is the t parameter of the request.
	PatternType string `json:"patternType"`
	Text        string `json:"text"`
	// Want are the paths of the files of which any will do.
	Want []string `json:"want"`
	// Why gives the reason where it is not plain.
	Why string `json:"why,omitempty"`
}

// JudgedSet returns a judged set that ships with the program, "go" for Go's own
// source, "kernel" and "kernel-unseen" for Linux 6.1 or "git-unseen" for git, and
// the ranks that were measured last. By the unseen ones no weight may be set.
func JudgedSet(name string) ([]Judged, Ranks, error) {
	text, err := judgedSets.ReadFile("judged/" + name + ".txt")
	if err != nil {
		return nil, Ranks{}, fmt.Errorf("no judged set %q; there are \"go\", \"kernel\", \"kernel-unseen\" and \"git-unseen\"", name)
	}
	queries, err := ParseJudged(string(text))
	if err != nil {
		return nil, Ranks{}, fmt.Errorf("judged set %q: %w", name, err)
	}
	text, err = judgedSets.ReadFile("judged/" + name + ".ranks")
	if err != nil {
		return nil, Ranks{}, fmt.Errorf("judged set %q: %w", name, err)
	}
	ranks, err := ParseRanks(string(text))
	if err != nil {
		return nil, Ranks{}, fmt.Errorf("ranks of judged set %q: %w", name, err)
	}
	return queries, ranks, nil
}

// ParseJudged reads a judged set: blocks of fields as in a query file, with
// name, kind, query, want, which may be repeated, and optionally type and why.
func ParseJudged(text string) ([]Judged, error) {
	var queries []Judged
	err := eachBlock(text, func(block []field) error {
		q := Judged{PatternType: "keyword"}
		seen := map[string]bool{}
		for _, f := range block {
			if seen[f.name] && f.name != "want" {
				return fmt.Errorf("line %d: %s stands twice in this block", f.line, f.name)
			}
			seen[f.name] = true
			if err := q.set(f.name, f.value); err != nil {
				return fmt.Errorf("line %d: %w", f.line, err)
			}
		}
		for _, need := range []string{"name", "kind", "query", "want"} {
			if !seen[need] {
				return fmt.Errorf("block at line %d: %s is missing", block[0].line, need)
			}
		}
		if slices.ContainsFunc(queries, func(o Judged) bool { return o.Name == q.Name }) {
			return fmt.Errorf("line %d: name %q is taken", block[0].line, q.Name)
		}
		queries = append(queries, q)
		return nil
	})
	return queries, err
}

func (q *Judged) set(name, value string) (err error) {
	if value == "" {
		return fmt.Errorf("%s has no value", name)
	}
	switch name {
	case "name":
		return setName(&q.Name, name, value)
	case "kind":
		return setName(&q.Kind, name, value)
	case "type":
		q.PatternType, err = oneOf(value, "keyword", "standard", "regexp", "literal")
	case "query":
		q.Text = value
	case "want":
		if strings.HasPrefix(value, "/") {
			return fmt.Errorf("want %q: write the path within the repository", value)
		}
		q.Want = append(q.Want, value)
	case "why":
		q.Why = value
	default:
		return fmt.Errorf("unknown field %q", name)
	}
	return err
}
