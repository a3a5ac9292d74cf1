package codehost

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Rule chooses repositories: those to which all that it says applies. Hosts of every
// kind take lists of them in the same form.
type Rule struct {
	// Name is a path, ID and UUID what the host calls it, Pattern a regular expression that is
	// looked for in the path.
	Name    string `json:"name,omitempty"`
	ID      ID     `json:"id,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	// Archived, Forks, Private and EmptyRepos choose those that are.
	Archived   bool `json:"archived,omitempty"`
	Forks      bool `json:"forks,omitempty"`
	Private    bool `json:"private,omitempty"`
	EmptyRepos bool `json:"emptyRepos,omitempty"`
	// Size and Stars are comparisons such as "> 1 GB" and "< 10".
	Size  string `json:"size,omitempty"`
	Stars string `json:"stars,omitempty"`
	// Topic is one of its topics.
	Topic string `json:"topic,omitempty"`
}

// Rules choose among the repositories of a host. The zero value takes all.
type Rules struct {
	include, exclude []func(r *Repository) bool
	sized            bool
}

// Sized reports whether a rule asks for sizes, which some hosts have to be asked for.
func (r Rules) Sized() bool { return r.sized }

// CompileRules returns the rules of which one of include has to apply, if there are
// any, and none of exclude.
func CompileRules(include, exclude []Rule) (Rules, error) {
	var out Rules
	for _, list := range []struct {
		name  string
		rules []Rule
		to    *[]func(*Repository) bool
	}{{"include", include, &out.include}, {"exclude", exclude, &out.exclude}} {
		for i, rule := range list.rules {
			test, err := rule.compile()
			if err != nil {
				return Rules{}, fmt.Errorf("%s, rule %d: %w", list.name, i+1, err)
			}
			*list.to = append(*list.to, test)
			out.sized = out.sized || rule.Size != ""
		}
	}
	return out, nil
}

// Takes reports whether a repository is chosen.
func (r Rules) Takes(repo *Repository) bool {
	for _, test := range r.exclude {
		if test(repo) {
			return false
		}
	}
	for _, test := range r.include {
		if test(repo) {
			return true
		}
	}
	return len(r.include) == 0
}

// MostPatternBytes bounds a pattern, which is run for each repository of each listing.
const MostPatternBytes = 1000

func (r Rule) compile() (func(*Repository) bool, error) {
	if r == (Rule{}) {
		return nil, errors.New("it says nothing: give a name, id, pattern, archived, forks, private, emptyRepos, size, stars or topic")
	}
	var tests []func(*Repository) bool
	add := func(test func(*Repository) bool) { tests = append(tests, test) }
	if r.Name != "" {
		add(func(o *Repository) bool { return strings.EqualFold(o.Path, r.Name) })
	}
	if r.ID != "" {
		add(func(o *Repository) bool { return o.ID == string(r.ID) || o.NodeID == string(r.ID) })
	}
	if r.UUID != "" {
		add(func(o *Repository) bool {
			return strings.EqualFold(strings.Trim(o.ID, "{}"), strings.Trim(r.UUID, "{}"))
		})
	}
	if r.Pattern != "" {
		if len(r.Pattern) > MostPatternBytes {
			return nil, fmt.Errorf("its pattern is longer than %d bytes", MostPatternBytes)
		}
		re, err := regexp.Compile(r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("its pattern is no regular expression: %w", err)
		}
		add(func(o *Repository) bool { return re.MatchString(o.Path) })
	}
	for _, f := range []struct {
		wanted bool
		test   func(*Repository) bool
	}{
		{r.Archived, func(o *Repository) bool { return o.Archived }},
		{r.Forks, func(o *Repository) bool { return o.Fork }},
		{r.Private, func(o *Repository) bool { return o.Private }},
		{r.EmptyRepos, func(o *Repository) bool { return o.Empty }},
		{r.Topic != "", func(o *Repository) bool { return contains(o.Topics, r.Topic) }},
	} {
		if f.wanted {
			add(f.test)
		}
	}
	for _, c := range []struct {
		name, text string
		value      func(*Repository) int64
	}{
		{"size", r.Size, func(o *Repository) int64 { return o.SizeBytes }},
		{"stars", r.Stars, func(o *Repository) int64 { return int64(o.Stars) }},
	} {
		if c.text == "" {
			continue
		}
		compare, err := parseComparison(c.text, c.name == "size")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		add(func(o *Repository) bool { return compare(c.value(o)) })
	}
	return func(o *Repository) bool {
		for _, test := range tests {
			if !test(o) {
				return false
			}
		}
		return true
	}, nil
}

func contains(all []string, one string) bool {
	for _, t := range all {
		if strings.EqualFold(t, one) {
			return true
		}
	}
	return false
}

// comparison is an operator, a number and a unit.
var comparison = regexp.MustCompile(`^\s*(<=|>=|<|>)\s*(\d{1,15})\s*([A-Za-z]*)\s*$`)

var units = map[string]int64{
	"": 1, "b": 1, "kb": 1000, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

func parseComparison(text string, sized bool) (func(int64) bool, error) {
	m := comparison.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%q is no comparison: write > 500 MB for a size, or < 10 for stars", text)
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	unit, ok := units[strings.ToLower(m[3])]
	if err != nil || !ok || unit > 1 && !sized || n > (1<<62)/unit {
		return nil, fmt.Errorf("%q is no comparison: write > 500 MB for a size, or < 10 for stars", text)
	}
	n *= unit
	switch m[1] {
	case "<":
		return func(v int64) bool { return v < n }, nil
	case "<=":
		return func(v int64) bool { return v <= n }, nil
	case ">":
		return func(v int64) bool { return v > n }, nil
	}
	return func(v int64) bool { return v >= n }, nil
}
