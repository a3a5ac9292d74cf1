package date

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrFormat is the error for a text that is no date.
var ErrFormat = errors.New("invalid date format")

// Parse returns the time that text names, seen from now.
func Parse(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, read := range []func(string, time.Time) (time.Time, bool){unix, written, named, relative} {
		if t, ok := read(text, now.UTC()); ok {
			return t, nil
		}
	}
	return time.Time{}, ErrFormat
}

// Valid reports whether Parse understands text.
func Valid(text string) bool {
	_, err := Parse(text, time.Unix(0, 0))
	return err == nil
}

var unixForm = regexp.MustCompile(`^(\d{5,12})(?: ([+-]\d{4}))?$`)

// lastUnix is the end of the year 9999, after which times no longer print in
// the usual forms.
const lastUnix = 253_402_300_799

// unix reads seconds since 1970, perhaps with the zone that git writes behind
// them.
func unix(text string, _ time.Time) (time.Time, bool) {
	m := unixForm.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || seconds > lastUnix {
		return time.Time{}, false
	}
	t := time.Unix(seconds, 0).UTC()
	if m[2] == "" {
		return t, true
	}
	zone, err := time.Parse("-0700", m[2])
	if err != nil {
		return time.Time{}, false
	}
	return t.In(zone.Location()), true
}

// layouts are the forms of digits, most specific first where it matters.
var layouts = []string{
	"2006-01-02",
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"Mon, _2 Jan 2006 15:04:05 -0700",
	"2006.01.02",
	"1/2/2006",
	"2.1.2006",
}

func written(text string, _ time.Time) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// CeilSecond returns the first whole second that is not before t, counted from
// 1970. Dates of commits have no fractions.
func CeilSecond(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}
