package httpapi

import (
	"strconv"
	"time"
)

// ageUnits are the units of an age, the largest first, with the words for one
// of them.
var ageUnits = []struct {
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

// ageWords returns in words how long ago a time was. The unit is the largest
// that fits into the age, or the next larger one if rounding reaches that.
func ageWords(at, now time.Time) string {
	// Beyond what a Duration holds, 292 years, Sub returns its bounds.
	age, before, behind := now.Sub(at), "", " ago"
	if age < 0 {
		age, before, behind = at.Sub(now), "in ", ""
	}
	i := 0
	for i < len(ageUnits)-1 && ageUnits[i].length > age {
		i++
	}
	n := roundHalfUp(age, ageUnits[i].length)
	if i > 0 && time.Duration(n)*ageUnits[i].length >= ageUnits[i-1].length {
		i, n = i-1, 1
	}
	words := ageUnits[i].one
	if n > 1 {
		words = strconv.FormatInt(n, 10) + ageUnits[i].many
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
