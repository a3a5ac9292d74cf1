package groups

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// By says what results are grouped by.
type By string

// The values of By.
const (
	Repository By = "repo"
	File       By = "file"
	Author     By = "author"  // of commits
	Capture    By = "capture" // the first group of the query's regular expression
)

const (
	// maxGroups is how many groups are counted one by one, and maxValueBytes how long
	// the name of one may be: 4 MB together.
	maxGroups     = 10_000
	maxValueBytes = 400
)

// Group is what some results have in common. Repository is that of a file.
type Group struct {
	Value, Repository string
	Count             int
}

// ErrNoCapture is the error of a query whose results cannot be grouped by a capture
// group.
var ErrNoCapture = errors.New("the query needs one regular expression with a group, such as /v(\\d+)/")

// Counter counts results. It is used by one goroutine at a time.
type Counter struct {
	by      By
	capture *regexp.Regexp
	counts  map[key]int
	// rest counts the results of groups that are not kept, and without those that
	// belong to none.
	rest, without int
}

type key struct{ value, repository string }

// New returns a counter for the results of a query. The error is ErrNoCapture.
func New(by By, q *query.Query) (*Counter, error) {
	c := &Counter{by: by, counts: map[key]int{}}
	if by != Capture {
		return c, nil
	}
	var err error
	c.capture, err = captureOf(q)
	return c, err
}

// captureOf compiles the one pattern of a query that has a group.
func captureOf(q *query.Query) (*regexp.Regexp, error) {
	found := map[string]bool{}
	for _, b := range q.Basics {
		sensitive := slices.ContainsFunc(b.Filters, func(f query.Filter) bool { return f.Field == "case" && strings.EqualFold(f.Value, "yes") })
		for p := range patterns(b.Pattern) {
			if p.IsRegexp && !sensitive {
				found["(?im)"+p.Value] = true
			} else if p.IsRegexp {
				found["(?m)"+p.Value] = true
			}
		}
	}
	var out *regexp.Regexp
	for text := range found {
		re, err := regexp.Compile(text)
		if err != nil || re.NumSubexp() == 0 {
			continue
		}
		if out != nil {
			return nil, ErrNoCapture
		}
		out = re
	}
	if out == nil {
		return nil, ErrNoCapture
	}
	return out, nil
}

// patterns yields the patterns that results are to match.
func patterns(n query.Node) func(yield func(*query.Pattern) bool) {
	return func(yield func(*query.Pattern) bool) { visit(n, yield) }
}

func visit(n query.Node, yield func(*query.Pattern) bool) bool {
	var kids []query.Node
	switch n := n.(type) {
	case *query.Pattern:
		return yield(n)
	case *query.And:
		kids = n.Children
	case *query.Or:
		kids = n.Children
	}
	for _, k := range kids {
		if !visit(k, yield) {
			return false
		}
	}
	return true
}

// Add counts the results of a match.
func (c *Counter) Add(m query.Match) {
	switch {
	case c.by == Repository:
		c.count(m.In().Name, "", m.Count())
	case c.by == Capture:
		c.captured(m)
	default:
		switch m := m.(type) {
		case *query.FileMatch:
			if c.by == File {
				c.count(m.Path, m.Repo.Name, m.Count())
				return
			}
		case *query.CommitMatch:
			if c.by == Author {
				c.count(m.Author.Name, "", m.Count())
				return
			}
		}
		c.without += m.Count()
	}
}

// captured counts what the group matched in each result.
func (c *Counter) captured(m query.Match) {
	switch m := m.(type) {
	case *query.FileMatch:
		for _, chunk := range m.Chunks {
			for _, r := range chunk.Ranges {
				c.capturedIn(chunk.Content, int(r.Start.Offset)-int(chunk.Start.Offset), int(r.End.Offset)-int(chunk.Start.Offset))
			}
		}
		if len(m.Chunks) > 0 {
			return
		}
	case *query.CommitMatch:
		for _, r := range m.Ranges {
			c.capturedIn([]byte(m.Body), int(r.Start.Offset), int(r.End.Offset))
		}
		if len(m.Ranges) > 0 {
			return
		}
	}
	c.without += m.Count()
}

// capturedIn counts one result. What it stands between is there, for \b, ^ and the
// like.
func (c *Counter) capturedIn(text []byte, from, to int) {
	if from < 0 || to > len(text) || from > to {
		c.without++
		return
	}
	line := from
	for line > 0 && text[line-1] != '\n' && from-line < maxValueBytes {
		line--
	}
	end := to
	for end < len(text) && text[end] != '\n' && end-to < maxValueBytes {
		end++
	}
	for rest := text[line:end]; ; {
		at := c.capture.FindSubmatchIndex(rest)
		if at == nil || line+at[0] > from {
			break
		}
		if line+at[0] == from {
			for i := 2; i+1 < len(at); i += 2 {
				if at[i] >= 0 {
					c.count(string(rest[at[i]:at[i+1]]), "", 1)
					return
				}
			}
			break
		}
		step := max(at[1], at[0]+1)
		line, rest = line+step, rest[min(step, len(rest)):]
	}
	if at := c.capture.FindSubmatchIndex(text[from:to]); at != nil && at[2] >= 0 {
		c.count(string(text[from+at[2]:from+at[3]]), "", 1)
		return
	}
	c.without++
}

func (c *Counter) count(value, repository string, n int) {
	if len(value) > maxValueBytes {
		i := maxValueBytes
		for i > 0 && !utf8.RuneStart(value[i]) {
			i--
		}
		value = value[:i] + "…"
	}
	k := key{value, repository}
	if _, ok := c.counts[k]; !ok && len(c.counts) == maxGroups {
		c.rest += n
		return
	}
	c.counts[k] += n
}

// Counts returns the largest groups, at most so many, how many there are, how many
// results belong to others, and how many to none. Of more than 10,000 groups those
// that come first are counted, and all is false.
func (c *Counter) Counts(most int) (largest []Group, groups, others, without int, all bool) {
	for k, n := range c.counts {
		largest = append(largest, Group{strings.ToValidUTF8(k.value, "\ufffd"), k.repository, n})
		others += n
	}
	slices.SortFunc(largest, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Value, b.Value))
	})
	groups = len(largest)
	largest = largest[:min(most, groups)]
	for _, g := range largest {
		others -= g.Count
	}
	return largest, groups, others + c.rest, c.without, c.rest == 0
}
