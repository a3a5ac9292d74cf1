package age

import (
	"strconv"
	"time"
)

// units are those of an age, the largest first, with the words for one
// of them.
var units = []struct {
	length    time.Duration
	one, many string
}{
	{365 * 24 * time.Hour, "one year", " years"},
	{30 * 24 * time.Hour, "one month", " months"},
	{24 * time.Hour, "one day", " days"},
	{time.Hour, "about an hour", " hours"},
	{time.Minute, "about a minute", " minutes"},
	{time.Second, "about a second", " seconds"},
}

// Words returns in words how long ago a time was. The unit is the largest
// that fits into the age, or the next larger one if rounding reaches that.
func Words(at, now time.Time) string {
	// Beyond what a Duration holds, 292 years, Sub returns its bounds.
	age, before, behind := now.Sub(at), "", " ago"
	if age < 0 {
		age, before, behind = at.Sub(now), "in ", ""
	}
	i := 0
	for i < len(units)-1 && units[i].length > age {
		i++
	}
	n := roundHalfUp(age, units[i].length)
	if i > 0 && time.Duration(n)*units[i].length >= units[i-1].length {
		i, n = i-1, 1
	}
	words := units[i].one
	if n > 1 {
		words = strconv.FormatInt(n, 10) + units[i].many
	}
	return before + words + behind
}

func roundHalfUp(age, unit time.Duration) int64 {
	n := int64(age / unit)
	if rest := age % unit; rest >= unit-rest {
		n++
	}
	return n
}
