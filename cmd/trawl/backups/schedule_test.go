package backups

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
)

// noon is when the clocks of these tests begin.
var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// TestScheduleWaits: a run that went well is followed by the next so long after
// its beginning, a failure by another try soon.
func TestScheduleWaits(t *testing.T) {
	type run struct {
		took time.Duration
		well bool
		next time.Duration // want
	}
	for _, c := range []struct {
		name  string
		every time.Duration
		runs  []run
	}{
		{"all is well", 24 * time.Hour, []run{{time.Minute, true, 24*time.Hour - time.Minute}, {0, true, 24 * time.Hour}}},
		{"longer than the interval", time.Hour, []run{{90 * time.Minute, true, 0}}},
		{"failures", 24 * time.Hour, []run{{time.Minute, false, retryBackup}, {time.Hour, false, retryBackup}, {0, true, 24 * time.Hour}}},
		{"more often than failures are tried again", 5 * time.Minute, []run{{time.Second, false, 5 * time.Minute}}},
	} {
		now, done := noon, 0
		waits := []time.Duration{}
		schedule{
			every: c.every,
			now:   func() time.Time { return now },
			run: func(context.Context) bool {
				r := c.runs[done]
				now = now.Add(r.took)
				done++
				return r.well
			},
			wait: func(_ context.Context, d time.Duration) bool {
				waits = append(waits, d)
				now = now.Add(d)
				return done < len(c.runs)
			},
		}.keep(t.Context(), 7*time.Minute)
		want := []time.Duration{7 * time.Minute}
		for _, r := range c.runs {
			want = append(want, r.next)
		}
		if !slices.Equal(waits, want) {
			t.Errorf("%s: waits %v, want %v", c.name, waits, want)
		}
	}
}

func TestUntilBackup(t *testing.T) {
	plan := &config.Backup{To: "/backups/trawl", Every: 24 * time.Hour}
	good := func(ago time.Duration, to string) backup.Record {
		return backup.Record{LastGood: &backup.Run{Started: noon.Add(-ago), Destination: to}}
	}
	for _, c := range []struct {
		name   string
		record backup.Record
		want   time.Duration
	}{
		{"never", backup.Record{}, 0},
		{"only failures", backup.Record{Last: &backup.Run{Started: noon.Add(-time.Minute), Destination: plan.To, Error: "x"}}, 0},
		{"an hour ago", good(time.Hour, plan.To), 23 * time.Hour},
		{"overdue", good(48*time.Hour, plan.To), 0},
		{"elsewhere", good(time.Hour, "/backups/other"), 0},
		{"in the future", good(-90*24*time.Hour, plan.To), 24 * time.Hour},
	} {
		if got := untilBackup(plan, c.record, noon); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLogWaits(t *testing.T) {
	var log bytes.Buffer
	report := logWaits(zerolog.New(&log))
	for _, c := range []struct {
		phase string
		lines int // so far
	}{{backup.PhaseSend, 0}, {backup.PhaseWait, 1}, {backup.PhaseWait, 1}, {backup.PhaseSend, 1}} {
		report(backup.Progress{Phase: c.phase})
		if n := strings.Count(log.String(), "waiting for another at the destination"); n != c.lines {
			t.Errorf("after %s: %d lines, want %d: %s", c.phase, n, c.lines, &log)
		}
	}
	log.Reset()
	logWaits(zerolog.New(&log))(backup.Progress{Phase: backup.PhaseWatch})
	if log.Len() == 0 {
		t.Error("nothing is logged of a prune that waits")
	}
}

// TestScheduledBackups: while the destination cannot be written, the record and
// the log say so and nothing is deleted; afterwards the rules hold again.
func TestScheduledBackups(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	to := filepath.Join(dir, "backups")
	maker := open(t, &config.Backup{To: to, Every: time.Hour, Keep: backup.Keep{Last: 2}}, zerolog.New(&log))
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	round := 0
	rounds := []struct {
		before func()
		kept   int
		log    string
		failed bool
	}{
		{func() {}, 1, "backup made", false},
		{func() {}, 2, "backup made", false},
		{func() {}, 2, "backups pruned", false},
		{func() { move(to, to+".away"); put(t, to, "in the way") }, 2, "backup failed", true},
		{func() { move(to, to+".file"); move(to+".away", to) }, 2, "backups pruned", false},
	}
	check := func() {
		t.Helper()
		r := rounds[round-1]
		where := to
		if r.failed {
			where += ".away"
		}
		all, err := backup.List(t.Context(), object.NewFolder(disk.OS(), where))
		if err != nil || len(all) != r.kept {
			t.Errorf("round %d: %d backups are kept, error %v; want %d", round, len(all), err, r.kept)
		}
		if !strings.Contains(log.String(), r.log) {
			t.Errorf("round %d: logged %s, want %q", round, &log, r.log)
		}
		last, err := maker.LastBackup()
		if err != nil || last.Last == nil || (last.Last.Error != "") != r.failed || last.LastGood == nil {
			t.Errorf("round %d: the record is %+v, %v; want an error: %v", round, last, err, r.failed)
		}
	}
	schedule{
		every: time.Hour,
		now:   func() time.Time { return noon },
		run:   maker.scheduled,
		wait: func(context.Context, time.Duration) bool {
			if round > 0 {
				check()
			}
			if round == len(rounds) {
				return false
			}
			log.Reset()
			rounds[round].before()
			round++
			return true
		},
	}.keep(t.Context(), 0)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
