package backups

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store/backup"
)

// retryBackup is how long after a failure a backup is tried again, if it would
// not be sooner anyway.
const retryBackup = 15 * time.Minute

// keep makes the backups of the configuration file until ctx ends, also
// across restarts: what counts is when the last good one began. BackUpNow has the
// next one made at once.
func (r *Runner) keep(ctx context.Context) {
	last, err := r.LastBackup()
	if err != nil {
		r.opts.Log.Warn().Err(err).Msg("read when the last backup was")
	}
	run := func(ctx context.Context) bool {
		defer r.beginPlanned()()
		return r.opts.Mine() && r.scheduled(ctx)
	}
	schedule{every: r.opts.Plan.Every, run: run, now: time.Now, wait: r.wait}.keep(ctx, untilBackup(r.opts.Plan, last, time.Now()))
}

// schedule runs something again and again, sooner after a failure.
type schedule struct {
	// every is the time between the beginnings of two runs that went well.
	every time.Duration
	// run reports whether it went well.
	run func(context.Context) bool
	now func() time.Time
	// wait lets time pass, and reports whether ctx goes on.
	wait func(context.Context, time.Duration) bool
}

// keep runs for the first time after next, and until ctx ends.
func (c schedule) keep(ctx context.Context, next time.Duration) {
	for c.wait(ctx, next) {
		begun := c.now()
		next = min(c.every, retryBackup)
		if c.run(ctx) {
			next = max(c.every-c.now().Sub(begun), 0)
		}
	}
}

// untilBackup is how long to wait for the first backup of a process.
func untilBackup(plan *config.Backup, r backup.Record, now time.Time) time.Duration {
	to := plan.To
	if dest, err := OpenDestination(plan.To); err == nil {
		to = dest.String()
	}
	at := now
	if r.LastGood != nil && r.LastGood.Destination == to {
		at = r.LastGood.Started.Add(plan.Every)
	}
	// A clock that was set back must not put backups off for long.
	return min(max(at.Sub(now), 0), plan.Every)
}
