package query

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CountAll is the count limit that count:all stands for.
const CountAll = 99_999_999

// YesNoOnly is the value of a filter such as fork:, which leaves a kind out,
// takes it in, or keeps nothing else.
type YesNoOnly int

// The values of a YesNoOnly. The zero value leaves out.
const (
	No YesNoOnly = iota
	Yes
	Only
)

// String returns the value as it is written in a query.
func (v YesNoOnly) String() string {
	switch v {
	case Yes:
		return "yes"
	case Only:
		return "only"
	}
	return "no"
}

// ParseBool reads the value of case:.
func ParseBool(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "y", "yes":
		return true, nil
	case "n", "no":
		return false, nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("invalid boolean %q", v)
	}
	return b, nil
}

// ParseYesNoOnly reads the value of fork:, archived: or index:.
func ParseYesNoOnly(v string) (YesNoOnly, error) {
	switch v {
	case "y", "Y", "yes", "YES", "Yes":
		return Yes, nil
	case "n", "N", "no", "NO", "No":
		return No, nil
	case "o", "only", "ONLY", "Only":
		return Only, nil
	}
	b, err := strconv.ParseBool(v)
	switch {
	case err != nil:
		return No, fmt.Errorf("invalid value %q. Valid values are: yes, only, no", v)
	case b:
		return Yes, nil
	}
	return No, nil
}

// ParseCount reads the value of count:, which is at least 1.
func ParseCount(v string) (int, error) {
	if strings.EqualFold(v, "all") {
		return CountAll, nil
	}
	n, err := strconv.ParseInt(v, 10, 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("field count has a value that is out of range, try making it smaller")
	case err != nil:
		return 0, fmt.Errorf("field count has value %s, %s is not a number", v, v)
	case n < 1:
		return 0, errors.New("field count requires a positive number")
	}
	return int(n), nil
}

// ParseTimeout reads the value of timeout:. It may be negative: such a search
// is over before it starts.
func ParseTimeout(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, errors.New(`invalid value for field 'timeout' (examples: "timeout:2s", "timeout:200ms")`)
	}
	return d, nil
}

// selectPaths lists what may follow each prefix of a select: path; the empty
// prefix is the path's beginning.
var selectPaths = map[string][]string{
	"":            {"repo", "file", "content", "symbol", "commit"},
	"file":        {"path", "directory", "owners"},
	"commit":      {"diff"},
	"commit.diff": {"added", "removed"},
	"symbol": {
		"file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum",
		"interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key",
		"null", "enum-member", "struct", "event", "operator", "type-parameter",
	},
}

// SelectValues returns the values of select:, the short ones first.
func SelectValues() []string {
	var out []string
	var add func(prefix string)
	add = func(prefix string) {
		for _, part := range selectPaths[prefix] {
			out = append(out, strings.TrimPrefix(prefix+"."+part, "."))
			add(strings.TrimPrefix(prefix+"."+part, "."))
		}
	}
	add("")
	slices.SortStableFunc(out, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
	return out
}

// ParseSelect reads the value of select: into the parts of its path, such as
// symbol and function.
func ParseSelect(v string) ([]string, error) {
	parts := strings.Split(v, ".")
	prefix := ""
	for _, part := range parts {
		if !slices.Contains(selectPaths[prefix], part) {
			return nil, fmt.Errorf("invalid field %q on select path %q", part, v)
		}
		prefix = strings.TrimPrefix(prefix+"."+part, ".")
	}
	return parts, nil
}

// SplitRepoRevs splits the value of a repo: filter into the regular expression
// for the name and the revisions behind the first "@". With hasRevs and no
// revisions the value asks for the default branch. A revision that AtTime made
// stays in one piece.
func SplitRepoRevs(v string) (nameRegexp string, revs []string, hasRevs bool) {
	name, list, found := strings.Cut(v, "@")
	if !found {
		return v, nil, false
	}
	if _, _, ok := ParseAtTime(list); ok {
		return name, []string{list}, true
	}
	for _, rev := range strings.Split(list, ":") {
		if rev != "" {
			revs = append(revs, rev)
		}
	}
	return name, revs, true
}

const (
	atTimeStart = "«at.time("
	atTimeEnd   = ")»"
)

// AtTime returns the revision that stands for rev:at.time(arg): each repository
// resolves it to a commit of its own. ParseAtTime takes it apart.
func AtTime(arg string) string { return atTimeStart + arg + atTimeEnd }

// ParseAtTime returns the time and the base revision of a revision made by
// AtTime. The base is HEAD unless the argument names another; ok is false for
// any other revision.
func ParseAtTime(rev string) (when, base string, ok bool) {
	arg, ok := strings.CutPrefix(rev, atTimeStart)
	if !ok {
		return "", "", false
	}
	arg, ok = strings.CutSuffix(arg, atTimeEnd)
	if !ok {
		return "", "", false
	}
	when, base, hasBase := strings.Cut(arg, ",")
	if !hasBase {
		base = "HEAD"
	}
	return strings.TrimSpace(when), strings.TrimSpace(base), true
}

// NamesOneRepo reports whether b selects a single repository by its exact name,
// as in repo:^github\.com/a/b$. Such a query finds the repository even if it
// is a fork or archived.
func (b Basic) NamesOneRepo() bool {
	var names []string
	for _, f := range b.Values("repo") {
		if !f.Negated && f.Predicate == nil {
			name, _, _ := SplitRepoRevs(f.Value)
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return false
	}
	literal, ok := strings.CutPrefix(names[0], "^")
	if !ok {
		return false
	}
	literal, ok = strings.CutSuffix(literal, "$")
	if !ok {
		return false
	}
	re, err := syntax.Parse(literal, syntax.Perl)
	return err == nil && re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0
}
