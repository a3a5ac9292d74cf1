package graphql

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// pageArgs are the arguments of lists that go both ways.
type pageArgs struct {
	First, Last   optInt
	After, Before optString
}

// forwardArgs are those of lists that go forward.
type forwardArgs struct {
	First optInt
	After optString
}

func (a forwardArgs) both() pageArgs { return pageArgs{First: a.First, After: a.After} }

// page is a part of a list. It is both PageInfo and ConnectionPageInfo.
type page struct {
	StartCursor, EndCursor       *string
	HasNextPage, HasPreviousPage bool
	// from and to bound the part.
	from, to int
}

// cut chooses a page of at most most entries from a list of n. keyAt returns
// what the cursor of an entry holds: entries are found again by it when others
// came or went, being sorted by it as less tells.
func cut(n, most int, a pageArgs, keyAt func(i int) string, from func(key string) int) (page, error) {
	lo, hi := 0, n
	if a.After.value != nil && *a.After.value != "" {
		key, err := readCursor(*a.After.value)
		if err != nil {
			return page{}, err
		}
		lo = from(key)
		if lo < n && keyAt(lo) == key {
			lo++
		}
	}
	if a.Before.value != nil && *a.Before.value != "" {
		key, err := readCursor(*a.Before.value)
		if err != nil {
			return page{}, err
		}
		hi = max(lo, from(key))
	}
	first, last := a.First.or(-1), a.Last.or(-1)
	if a.First.value != nil && first < 0 || a.Last.value != nil && last < 0 {
		return page{}, refuse("a page cannot have a negative length")
	}
	p := page{from: lo, to: hi}
	switch {
	case a.Last.value != nil && a.First.value == nil:
		p.from = max(lo, hi-length(last, most))
		p.HasNextPage, p.HasPreviousPage = hi < n, p.from > lo
	default:
		p.to = min(hi, lo+length(first, most))
		p.HasNextPage, p.HasPreviousPage = p.to < hi, lo > 0
	}
	if p.from < p.to {
		start, end := cursor(keyAt(p.from)), cursor(keyAt(p.to-1))
		p.StartCursor, p.EndCursor = &start, &end
	}
	return p, nil
}

// length is how long a page may be; 0, and nothing said, is the most.
func length(asked int32, most int) int {
	if asked <= 0 {
		return most
	}
	return min(int(asked), most)
}

// cutByIndex is cut for lists whose cursors are the places of their entries.
func cutByIndex(n, most int, a pageArgs) (page, error) {
	return cut(n, most, a, strconv.Itoa, func(key string) int {
		i, err := strconv.Atoi(key)
		if err != nil {
			return n
		}
		return min(max(i, 0), n)
	})
}

// cutByName is cut for lists sorted by names that stand there once.
func cutByName(names []string, most int, a pageArgs) (page, error) {
	return cut(len(names), most, a, func(i int) string { return names[i] }, func(key string) int {
		i, _ := slices.BinarySearch(names, key)
		return i
	})
}

const cursorPrefix = "at:"

func cursor(key string) string {
	return base64.StdEncoding.EncodeToString([]byte(cursorPrefix + key))
}

func readCursor(text string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	key, ok := strings.CutPrefix(string(raw), cursorPrefix)
	if err != nil || !ok {
		return "", refuse("invalid cursor %.100q: take one from pageInfo", text)
	}
	return key, nil
}

// forwardPage is PageInfo: its end cursor is null where there is no next page.
type forwardPage struct{ page }

// EndCursor is null on the last page.
func (p forwardPage) EndCursor() *string {
	if !p.HasNextPage {
		return nil
	}
	return p.page.EndCursor
}

// skipCursor and skipOf write and read cursors of lists too long to be held:
// they say how many entries stand before.
func skipCursor(n int) string { return strconv.Itoa(n) }

func skipOf(after optString) (int, error) {
	if after.or("") == "" {
		return 0, nil
	}
	key, err := readCursor(*after.value)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(key)
	if err != nil || n < 0 {
		return 0, refuse("invalid cursor %.100q: take one from pageInfo", *after.value)
	}
	return n, nil
}
