package date

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// relative reads a text that only means something seen from now: "yesterday",
// "5 days ago", "last thursday", "two weeks ago at 11am", "3pm".
func relative(text string, now time.Time) (time.Time, bool) {
	tokens, clock, ok := tokenize(text)
	if !ok {
		return time.Time{}, false
	}
	if len(tokens) == 0 {
		if clock == nil || strings.HasPrefix(strings.ToLower(text), "at") {
			return time.Time{}, false
		}
		return clock.on(now), true
	}
	t, exact, ok := moment(tokens, now)
	if !ok || clock == nil {
		return t, ok
	}
	return clock.on(t), !exact
}

// moment reads tokens without a time of day. An exact time, such as one some
// hours ago, takes none.
func moment(tokens []string, now time.Time) (t time.Time, exact, ok bool) {
	today := midnight().on(now)
	switch {
	case len(tokens) == 1:
		t, ok = oneWord(tokens[0], today)
		return t, false, ok
	case len(tokens) == 2 && (tokens[0] == "last" || tokens[0] == "next"):
		t, ok = neighbour(tokens[0], tokens[1], now, today)
		return t, false, ok
	}
	n, ok := number(tokens[0])
	if !ok || len(tokens) > 3 || len(tokens) == 3 && tokens[2] != "ago" {
		return time.Time{}, false, false
	}
	return back(n, tokens[1], now, today)
}

func oneWord(word string, today time.Time) (time.Time, bool) {
	switch word {
	case "today":
		return today, true
	case "yesterday":
		return today.AddDate(0, 0, -1), true
	case "tomorrow":
		return today.AddDate(0, 0, 1), true
	}
	return neighbour("last", word, time.Time{}, today)
}

// neighbour returns the weekday before or behind today, or now moved by one unit. ok
// is false for other words.
func neighbour(which, what string, now, today time.Time) (at time.Time, ok bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := strings.ToLower(day.String())
		if what != name && what != name[:3] {
			continue
		}
		ahead := int(day-today.Weekday()+7) % 7
		switch {
		case which == "last":
			ahead -= 7
		case ahead == 0:
			ahead = 7
		}
		return today.AddDate(0, 0, ahead), true
	}
	n := 1
	if which == "next" {
		n = -1
	}
	switch what {
	case "week", "month", "year":
		if now.IsZero() {
			return time.Time{}, false
		}
		t, _, ok := back(n, what, now, today)
		return t, ok
	}
	return time.Time{}, false
}

// back goes n units into the past. Days and weeks count from midnight; months
// and years keep the time of day, and the day as far as the month has it.
func back(n int, unit string, now, today time.Time) (t time.Time, exact, ok bool) {
	switch strings.TrimSuffix(unit, "s") {
	case "second", "sec":
		return now.Add(-time.Duration(n) * time.Second), true, true
	case "minute", "min":
		return now.Add(-time.Duration(n) * time.Minute), true, true
	case "hour":
		return now.Add(-time.Duration(n) * time.Hour), true, true
	case "day":
		return today.AddDate(0, 0, -n), false, true
	case "week":
		return today.AddDate(0, 0, -7*n), false, true
	case "month":
		return monthsBack(now, n), false, true
	case "year":
		return monthsBack(now, 12*n), false, n <= 1000
	}
	return time.Time{}, false, false
}

func monthsBack(now time.Time, n int) time.Time {
	first := time.Date(now.Year(), now.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	day := min(now.Day(), daysIn(first.Month(), first.Year()))
	return clockOf(now).on(first.AddDate(0, 0, day-1))
}

var numberForm = regexp.MustCompile(`^\d{1,4}$`)

var numerals = []string{
	"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
}

// number reads how many units: digits or a numeral, at least one. "a month
// ago" is left to people who mean exactly one.
func number(token string) (int, bool) {
	for n, word := range numerals {
		if token == word {
			return n, n > 0
		}
	}
	if !numberForm.MatchString(token) {
		return 0, false
	}
	n, err := strconv.Atoi(token)
	return n, err == nil && n > 0
}
