package wire

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// PageArgs are the arguments of lists that go both ways.
type PageArgs struct {
	First, Last   Int
	After, Before String
}

// ForwardArgs are those of lists that go forward.
type ForwardArgs struct {
	First Int
	After String
}

// Both returns the same arguments of a list that goes both ways.
func (a ForwardArgs) Both() PageArgs { return PageArgs{First: a.First, After: a.After} }

// Page is a part of a list. It is both PageInfo and ConnectionPageInfo.
type Page struct {
	StartCursor, EndCursor       *string
	HasNextPage, HasPreviousPage bool
	// From and to bound the part.
	From, To int
}

// Cut chooses a page of at most most entries from a list of n. keyAt returns
// what the cursor of an entry holds: entries are found again by it when others
// came or went, being sorted by it as less tells.
func Cut(n, most int, a PageArgs, keyAt func(i int) string, from func(key string) int) (Page, error) {
	lo, hi := 0, n
	if a.After.Value != nil && *a.After.Value != "" {
		key, err := readCursor(*a.After.Value)
		if err != nil {
			return Page{}, err
		}
		lo = from(key)
		if lo < n && keyAt(lo) == key {
			lo++
		}
	}
	if a.Before.Value != nil && *a.Before.Value != "" {
		key, err := readCursor(*a.Before.Value)
		if err != nil {
			return Page{}, err
		}
		hi = max(lo, from(key))
	}
	first, last := a.First.Or(-1), a.Last.Or(-1)
	if a.First.Value != nil && first < 0 || a.Last.Value != nil && last < 0 {
		return Page{}, Refuse("a page cannot have a negative length")
	}
	p := Page{From: lo, To: hi}
	switch {
	case a.Last.Value != nil && a.First.Value == nil:
		p.From = max(lo, hi-PageLength(last, most))
		p.HasNextPage, p.HasPreviousPage = hi < n, p.From > lo
	default:
		p.To = min(hi, lo+PageLength(first, most))
		p.HasNextPage, p.HasPreviousPage = p.To < hi, lo > 0
	}
	if p.From < p.To {
		start, end := Cursor(keyAt(p.From)), Cursor(keyAt(p.To-1))
		p.StartCursor, p.EndCursor = &start, &end
	}
	return p, nil
}

// PageLength is how long a page may be; 0, and nothing said, is the most.
func PageLength(asked int32, most int) int {
	if asked <= 0 {
		return most
	}
	return min(int(asked), most)
}

// CutByIndex is Cut for lists whose cursors are the places of their entries.
func CutByIndex(n, most int, a PageArgs) (Page, error) {
	return Cut(n, most, a, strconv.Itoa, func(key string) int {
		i, err := strconv.Atoi(key)
		if err != nil {
			return n
		}
		return min(max(i, 0), n)
	})
}

// CutByName is Cut for lists sorted by names that stand there once.
func CutByName(names []string, most int, a PageArgs) (Page, error) {
	return Cut(len(names), most, a, func(i int) string { return names[i] }, func(key string) int {
		i, _ := slices.BinarySearch(names, key)
		return i
	})
}

const cursorPrefix = "at:"

// Cursor is the cursor of an entry that key finds.
func Cursor(key string) string {
	return base64.StdEncoding.EncodeToString([]byte(cursorPrefix + key))
}

func readCursor(text string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	key, ok := strings.CutPrefix(string(raw), cursorPrefix)
	if err != nil || !ok {
		return "", Refuse("invalid cursor %.100q: take one from pageInfo", text)
	}
	return key, nil
}

// ForwardPage is PageInfo: its end cursor is null where there is no next page.
type ForwardPage struct{ Page }

// EndCursor is null on the last page.
func (p ForwardPage) EndCursor() *string {
	if !p.HasNextPage {
		return nil
	}
	return p.Page.EndCursor
}

// SkipCursor is the key of a list that is too long to hold: how many entries
// stand before.
func SkipCursor(n int) string { return strconv.Itoa(n) }

// SkipOf reads how many entries stand before, from a cursor with a SkipCursor.
func SkipOf(after String) (int, error) {
	if after.Or("") == "" {
		return 0, nil
	}
	key, err := readCursor(*after.Value)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(key)
	if err != nil || n < 0 {
		return 0, Refuse("invalid cursor %.100q: take one from pageInfo", *after.Value)
	}
	return n, nil
}

// Rank orders what comes first before all else.
func Rank(first bool) int {
	if first {
		return 1
	}
	return 0
}
