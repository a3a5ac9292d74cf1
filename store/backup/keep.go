package backup

import (
	"fmt"
	"time"
)

// Keep says which backups Prune keeps: those that at least one rule names. All
// times are in UTC. The zero value names none.
type Keep struct {
	// Last keeps that many of the newest.
	Last int `json:"last,omitempty"`
	// Daily keeps the newest of a day, for that many days that have one; Weekly,
	// Monthly and Yearly do the same for weeks, which begin on Monday, months and
	// years.
	Daily   int `json:"daily,omitempty"`
	Weekly  int `json:"weekly,omitempty"`
	Monthly int `json:"monthly,omitempty"`
	Yearly  int `json:"yearly,omitempty"`
}

// clockSlack is how much clocks of two machines may differ.
const clockSlack = time.Minute

// Choose returns which of the backups, the oldest first, are kept at a time, and
// why. Those that are dated later are: a clock was wrong, then or now, and days
// and weeks mean nothing for them.
func (k Keep) Choose(all []Backup, now time.Time) map[string][]string {
	kept := map[string][]string{}
	for len(all) > 0 && all[len(all)-1].Created.After(now.Add(clockSlack)) {
		kept[all[len(all)-1].ID] = []string{"dated in the future"}
		all = all[:len(all)-1]
	}
	for _, rule := range []struct {
		name   string
		most   int
		period func(time.Time, int) string
	}{
		{"last", k.Last, func(_ time.Time, i int) string { return fmt.Sprint(i) }},
		{"daily", k.Daily, func(t time.Time, _ int) string { return t.Format(time.DateOnly) }},
		{"weekly", k.Weekly, func(t time.Time, _ int) string {
			year, week := t.ISOWeek()
			return fmt.Sprint(year, week)
		}},
		{"monthly", k.Monthly, func(t time.Time, _ int) string { return t.Format("2006-01") }},
		{"yearly", k.Yearly, func(t time.Time, _ int) string { return t.Format("2006") }},
	} {
		before, n := "", 0
		for i := len(all) - 1; i >= 0 && n < rule.most; i-- {
			period := rule.period(all[i].Created.UTC(), i)
			if period == before {
				continue
			}
			before = period
			n++
			kept[all[i].ID] = append(kept[all[i].ID], rule.name)
		}
	}
	return kept
}
