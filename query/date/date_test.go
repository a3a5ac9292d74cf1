package date_test

import (
	"errors"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query/date"
)

// reference is the Wednesday that the relative examples are seen from.
var reference = time.Date(2024, 5, 15, 12, 30, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Unix seconds; the offset only sets the zone shown.
		{"1632782809", "2021-09-27T22:46:49Z"},
		{"1632782809 -0600", "2021-09-27T16:46:49-06:00"},
		{"12345", "1970-01-01T03:25:45Z"},
		// Digits.
		{"2024-05-01", "2024-05-01T00:00:00Z"},
		{"2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"},
		{"2024-05-01T10:00:00+07:00", "2024-05-01T10:00:00+07:00"},
		{"2024-05-01T10:00:00", "2024-05-01T10:00:00Z"},
		{"2024-05-01 10:00:00+07:00", "2024-05-01T10:00:00+07:00"},
		{"2024-05-01 10:00:00", "2024-05-01T10:00:00Z"},
		{"2024.01.31", "2024-01-31T00:00:00Z"},
		{"11/1/2019", "2019-11-01T00:00:00Z"},
		{"1/31/2024", "2024-01-31T00:00:00Z"},
		{"01.11.2019", "2019-11-01T00:00:00Z"},
		{"31.1.2024", "2024-01-31T00:00:00Z"},
		// Mail dates keep their time of day on every weekday.
		{"Thu, 07 Apr 2005 22:13:13 +0200", "2005-04-07T22:13:13+02:00"},
		{"Fri, 8 Apr 2005 22:13:13 +0200", "2005-04-08T22:13:13+02:00"},
		// Months by name, with a year.
		{"november 1 2019", "2019-11-01T00:00:00Z"},
		{"1 november, 2019", "2019-11-01T00:00:00Z"},
		{"january 31, 2024", "2024-01-31T00:00:00Z"},
		{"31 jan 2024", "2024-01-31T00:00:00Z"},
		{"JAN 31 2024", "2024-01-31T00:00:00Z"},
		{"2019 november 1st", "2019-11-01T00:00:00Z"},
		{"feb 29 2024", "2024-02-29T00:00:00Z"},
		{"november 1 2019 at 3pm", "2019-11-01T15:00:00Z"},
		// Months by name, the last that has passed.
		{"june", "2023-06-15T12:30:00Z"},
		{"may", "2023-05-15T12:30:00Z"},
		{"january 1st", "2024-01-01T12:30:00Z"},
		{"may 14", "2024-05-14T12:30:00Z"},
		{"may 16th", "2023-05-16T12:30:00Z"},
		{"february 29th", "2024-02-29T12:30:00Z"},
		{"december 25th at 7:30am", "2023-12-25T07:30:00Z"},
		{"jun 3", "2023-06-03T12:30:00Z"},
		// Days.
		{"today", "2024-05-15T00:00:00Z"},
		{"yesterday", "2024-05-14T00:00:00Z"},
		{"Tomorrow", "2024-05-16T00:00:00Z"},
		{"5 days ago", "2024-05-10T00:00:00Z"},
		{"2 weeks ago", "2024-05-01T00:00:00Z"},
		{"two days ago at 11am", "2024-05-13T11:00:00Z"},
		{"yesterday 5pm", "2024-05-14T17:00:00Z"},
		{"last week", "2024-05-08T00:00:00Z"},
		{"1 week ago", "2024-05-08T00:00:00Z"},
		{"last thursday", "2024-05-09T00:00:00Z"},
		{"thursday", "2024-05-09T00:00:00Z"},
		{"tue", "2024-05-14T00:00:00Z"},
		{"wednesday", "2024-05-08T00:00:00Z"},
		{"next thursday", "2024-05-16T00:00:00Z"},
		{"next wednesday", "2024-05-22T00:00:00Z"},
		{"next week", "2024-05-22T00:00:00Z"},
		// Moments.
		{"20 minutes ago", "2024-05-15T12:10:00Z"},
		{"3 hours", "2024-05-15T09:30:00Z"},
		{"10 seconds ago", "2024-05-15T12:29:50Z"},
		{"1 month ago", "2024-04-15T12:30:00Z"},
		{"last month", "2024-04-15T12:30:00Z"},
		{"three months ago", "2024-02-15T12:30:00Z"},
		{"1 year ago", "2023-05-15T12:30:00Z"},
		{"last year", "2023-05-15T12:30:00Z"},
		// Times of today, ahead or not.
		{"3pm", "2024-05-15T15:00:00Z"},
		{"12am", "2024-05-15T00:00:00Z"},
		{"12pm", "2024-05-15T12:00:00Z"},
		{"3:00", "2024-05-15T03:00:00Z"},
		{"23:59:58", "2024-05-15T23:59:58Z"},
		// White space around says nothing.
		{" 2024-05-01 ", "2024-05-01T00:00:00Z"},
	} {
		got, err := date.Parse(c.text, reference)
		if err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("Parse(%q) = %s, %v, want %s", c.text, got.Format(time.RFC3339), err, c.want)
		}
		if !date.Valid(c.text) {
			t.Errorf("Valid(%q) = false, want true: Parse takes it", c.text)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		// No date at all.
		"", " ", "garbage", "someday", "x, y",
		// Words that name no past moment.
		"now", "noon", "midnight", "this week", "a month ago", "0 days ago", "ago", "5", "5 ago", "last", "last day", "week",
		// Forms with a part missing or out of range.
		"2024-5-1", "2019.11.1", "2024.1.31", "2024-05-01T10:00", "31/1/2024", "2024-13-01", "2024-02-30",
		"feb 30 2024", "june 2024", "january 0", "feb 30", "25:00", "13pm", "0am", "3:60", "1632782809 -6000", "999999999999",
		// Numbers that could be anything.
		"1234", "2017",
		// Half understood.
		"yesterday at", "at 3pm", "at", "3 hours ago at 3pm", "november 1 2019 or so", "may may", "1 2 may", "5 days ago ago",
		"99999 days ago", "1001 years ago",
	} {
		if got, err := date.Parse(text, reference); !errors.Is(err, date.ErrFormat) {
			t.Errorf("Parse(%q) = %s, %v, want %v", text, got, err, date.ErrFormat)
		}
	}
}

func TestParseClampsToMonth(t *testing.T) {
	now := time.Date(2024, 3, 31, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct{ text, want string }{
		{"1 month ago", "2024-02-29T08:00:00Z"},
		{"13 months ago", "2023-02-28T08:00:00Z"},
		{"june", "2023-06-30T08:00:00Z"},
		{"february", "2024-02-29T08:00:00Z"},
	} {
		got, err := date.Parse(c.text, now)
		if err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("Parse(%q) on 31 March = %s, %v, want %s", c.text, got.Format(time.RFC3339), err, c.want)
		}
	}
}

func TestParseReadsNowInUTC(t *testing.T) {
	// 01:00 on the 16th in Auckland is still the 15th in UTC.
	now := time.Date(2024, 5, 16, 1, 0, 0, 0, time.FixedZone("", 12*3600))
	got, err := date.Parse("today", now)
	if want := time.Date(2024, 5, 15, 0, 0, 0, 0, time.UTC); err != nil || !got.Equal(want) {
		t.Errorf("Parse(today) at %s = %s, %v, want %s", now, got, err, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"2 weeks ago", "jan 31 2024", "1632782809 -0600", "december 25th at 7:30am", "last thursday", "1/2/2006"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := date.Parse(text, reference)
		_, again := date.Parse(text, reference.AddDate(3, 7, 11).Add(5*time.Hour))
		if (err == nil) != (again == nil) {
			t.Errorf("Parse(%q) is a date at one time and not at another: %v, %v", text, err, again)
		}
		if err == nil && (first.Year() < 0 || first.Year() > 9999) {
			t.Errorf("Parse(%q) = %s, outside of any calendar", text, first)
		}
	})
}
