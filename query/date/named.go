package date

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The tokens of a date written out; "1st" and "1" are the same day.
var (
	ordinalForm = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?$`)
	yearForm    = regexp.MustCompile(`^\d{4}$`)
	clockForm   = regexp.MustCompile(`^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(am|pm)?$`)
)

// named reads a month by name with a day, a year or both: "november 1 2019",
// "1 nov, 2019", "january 1st", "june". Without a year it is the last such day
// before now; without a day the day of the month is now's; without a time of
// day and a year the time of day is now's.
func named(text string, now time.Time) (time.Time, bool) {
	tokens, clock, ok := tokenize(text)
	if !ok {
		return time.Time{}, false
	}
	var month time.Month
	day, year := 0, 0
	for _, token := range tokens {
		m, isMonth := monthOf(token)
		switch {
		case isMonth && month == 0:
			month = m
		case ordinalForm.MatchString(token) && day == 0:
			day, _ = strconv.Atoi(ordinalForm.FindStringSubmatch(token)[1])
			if day == 0 {
				return time.Time{}, false
			}
		case yearForm.MatchString(token) && year == 0:
			year, _ = strconv.Atoi(token)
		default:
			return time.Time{}, false
		}
	}
	if month == 0 || year != 0 && day == 0 {
		return time.Time{}, false
	}
	return dayOf(year, month, day, clock, now)
}

// dayOf completes a date from now.
func dayOf(year int, month time.Month, day int, clock *clock, now time.Time) (time.Time, bool) {
	if clock == nil {
		clock = clockOf(now)
		if year != 0 {
			clock = midnight()
		}
	}
	if day == 0 {
		day = min(now.Day(), daysIn(month, now.Year()))
	}
	if year != 0 {
		return clock.on(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)), day <= daysIn(month, year)
	}
	// 29 February is found up to eight years back, over a century's end.
	for y := now.Year(); y > now.Year()-9; y-- {
		t := clock.on(time.Date(y, month, day, 0, 0, 0, 0, time.UTC))
		if day <= daysIn(month, y) && t.Before(now) {
			return t, true
		}
	}
	return time.Time{}, false
}

func daysIn(month time.Month, year int) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// tokenize cuts a text at white space and commas, and takes a time of day at
// its end, perhaps after "at", off it.
func tokenize(text string) (tokens []string, at *clock, ok bool) {
	text = strings.ToLower(text)
	tokens = strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	n := len(tokens)
	if n == 0 || n > 8 {
		return nil, nil, false
	}
	c, isClock := clockIn(tokens[n-1])
	saysAt := n > 1 && tokens[n-2] == "at"
	switch {
	case isClock && saysAt:
		return tokens[:n-2], c, true
	case isClock:
		return tokens[:n-1], c, true
	}
	return tokens, nil, !saysAt
}

func monthOf(token string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if token == name || token == name[:3] {
			return m, true
		}
	}
	return 0, false
}

// clock is a time of day.
type clock struct{ hour, minute, second, nano int }

func midnight() *clock { return &clock{} }

func clockOf(t time.Time) *clock {
	return &clock{t.Hour(), t.Minute(), t.Second(), t.Nanosecond()}
}

// on puts the time of day on a day.
func (c *clock) on(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), c.hour, c.minute, c.second, c.nano, time.UTC)
}

// clockIn reads "3pm", "7:30am", "15:04" or "15:04:05". A bare number is no
// time of day.
func clockIn(token string) (*clock, bool) {
	m := clockForm.FindStringSubmatch(token)
	if m == nil || m[2] == "" && m[4] == "" {
		return nil, false
	}
	c := &clock{}
	c.hour, _ = strconv.Atoi(m[1])
	c.minute, _ = strconv.Atoi(m[2])
	c.second, _ = strconv.Atoi(m[3])
	if m[4] != "" {
		if c.hour < 1 || c.hour > 12 {
			return nil, false
		}
		c.hour %= 12
		if m[4] == "pm" {
			c.hour += 12
		}
	}
	return c, c.hour < 24 && c.minute < 60 && c.second < 60
}
