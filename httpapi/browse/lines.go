package browse

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// lineRange are lines, counted from one; the zero value is none. column is that of the
// first character that is meant of the first line, from one, 0 where none is named.
type lineRange struct{ first, last, column int }

func (l lineRange) holds(n int) bool { return n >= l.first && n <= l.last }

// query is how an address names the lines, "" for none.
func (l lineRange) query() string {
	switch {
	case l.first == 0:
		return ""
	case l.first == l.last:
		return fmt.Sprintf("?L%d", l.first)
	}
	return fmt.Sprintf("?L%d-%d", l.first, l.last)
}

// lineQuery is how addresses of search results name lines: L10, L10-20,
// L10:5-10:9 and the like.
var lineQuery = regexp.MustCompile(`^L([0-9]{1,9})(?::([0-9]{1,9}))?(?:-L?([0-9]{1,9})(?::[0-9]{1,9})?)?$`)

// parseLines finds the lines that the query of an address names.
func parseLines(rawQuery string) lineRange {
	for part := range strings.SplitSeq(rawQuery, "&") {
		m := lineQuery.FindStringSubmatch(strings.TrimSuffix(strings.ReplaceAll(part, "%3A", ":"), "="))
		if m == nil {
			continue
		}
		first, _ := strconv.Atoi(m[1]) // the regexp has seen to both
		column, _ := strconv.Atoi(m[2])
		last, err := strconv.Atoi(m[3])
		if err != nil {
			last = first
		}
		if first > last {
			first, last, column = last, first, 0
		}
		if first > 0 {
			return lineRange{first, last, column}
		}
	}
	return lineRange{}
}

// reflects reports whether the query of an address has more than lines, which the page may
// show.
func reflects(rawQuery string) bool {
	for part := range strings.SplitSeq(rawQuery, "&") {
		if part != "" && !lineQuery.MatchString(strings.TrimSuffix(strings.ReplaceAll(part, "%3A", ":"), "=")) {
			return true
		}
	}
	return false
}
