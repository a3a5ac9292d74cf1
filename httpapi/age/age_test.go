package age

import (
	"math"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	const day, month, year = 24 * time.Hour, 30 * 24 * time.Hour, 365 * 24 * time.Hour
	now := time.Date(2031, 2, 3, 4, 5, 6, 789012000, time.UTC)
	for _, c := range []struct {
		age  time.Duration
		want string
	}{
		// one and many of each unit
		{0, "about a second ago"},
		{time.Second, "about a second ago"},
		{2 * time.Second, "2 seconds ago"},
		{time.Minute, "about a minute ago"},
		{7 * time.Minute, "7 minutes ago"},
		{time.Hour, "about an hour ago"},
		{23 * time.Hour, "23 hours ago"},
		{day, "one day ago"},
		{3 * day, "3 days ago"},
		{month, "one month ago"},
		{2 * month, "2 months ago"},
		{year, "one year ago"},
		{40 * year, "40 years ago"},

		// rounded to the nearest, halves up
		{499 * time.Millisecond, "about a second ago"},
		{1499 * time.Millisecond, "about a second ago"},
		{1500 * time.Millisecond, "2 seconds ago"},
		{89 * time.Second, "about a minute ago"},
		{90 * time.Second, "2 minutes ago"},
		{90*time.Minute - 1, "about an hour ago"},
		{90 * time.Minute, "2 hours ago"},
		{36*time.Hour - 1, "one day ago"},
		{36 * time.Hour, "2 days ago"},
		{45*day - 1, "one month ago"},
		{45 * day, "2 months ago"},
		{547 * day, "one year ago"},
		{548 * day, "2 years ago"},

		// rounded up to the next unit
		{59*time.Second + 499*time.Millisecond, "59 seconds ago"},
		{59*time.Second + 500*time.Millisecond, "about a minute ago"},
		{59*time.Minute + 29*time.Second, "59 minutes ago"},
		{59*time.Minute + 30*time.Second, "about an hour ago"},
		{23*time.Hour + 29*time.Minute, "23 hours ago"},
		{23*time.Hour + 30*time.Minute, "one day ago"},
		{29*day + 11*time.Hour, "29 days ago"},
		{29*day + 12*time.Hour, "one month ago"},
		{364 * day, "12 months ago"}, // twelve months are no year

		// to come
		{-1, "in about a second"},
		{-90 * time.Second, "in 2 minutes"},
		{-day, "in one day"},
		{-3 * year, "in 3 years"},

		// the longest duration
		{math.MaxInt64, "292 years ago"},
	} {
		if got := Words(now.Add(-c.age), now); got != c.want {
			t.Errorf("age %v: got %q, want %q", c.age, got, c.want)
		}
	}
	if got, want := Words(time.Time{}, now), "292 years ago"; got != want {
		t.Errorf("the year 1 in %v: got %q, want %q", now, got, want)
	}
}
