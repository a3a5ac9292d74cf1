package backups

import (
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/redact"
)

// leaveWord puts what is asked for into a channel of one, unless it is there.
func leaveWord[T any](to chan T, word T) {
	select {
	case to <- word:
	default:
	}
}

// wait lets time pass, until a backup is asked for at most.
func (r *Runner) wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-r.wake:
		return true
	case <-time.After(d):
		return true
	}
}

// beginPlanned notes that a backup of the plan is at work, which is the one that was asked for
// if one was, until ended is called.
func (r *Runner) beginPlanned() (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned = true
	select {
	case <-r.wake:
	default:
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.planned = false
	}
}

// begin notes that a backup is at work until ended is called, and how far it is.
func (r *Runner) begin(destination string, begun time.Time, report func(backup.Progress)) (reporting func(backup.Progress), ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = &manage.BackupProgress{Started: begun, Destination: redact.URL(destination)}
	reporting = func(p backup.Progress) {
		r.mu.Lock()
		r.running.Phase, r.running.DoneBytes, r.running.TotalBytes = p.Phase, p.DoneBytes, p.TotalBytes
		r.mu.Unlock()
		report(p)
	}
	return reporting, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running = nil
	}
}

// errNoPlan is that of work for which the configuration file has to name a destination.
var errNoPlan = errors.New("the configuration file has no section backup: docs/backup.md shows one")

// BackUpNow has Run make a backup at once.
func (r *Runner) BackUpNow() error {
	switch {
	case r.opts.Plan == nil:
		return errNoPlan
	case !r.opts.Mine():
		return errors.New("another node makes the backups now: ask there, or wait for the next")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.planned || r.running != nil {
		return errBackup
	}
	r.planned = true
	leaveWord(r.wake, struct{}{})
	return nil
}

// BackupStatus tells of the backups. It has the destination asked anew, and waits for
// that until ctx ends: what is known from before is told then.
func (r *Runner) BackupStatus(ctx context.Context) (out manage.BackupStatus) {
	out = manage.BackupStatus{Checks: map[string]manage.BackupCheck{}}
	// Last, as a backup that is seen not to be at work any more is in the record.
	defer r.addRecord(&out)
	if r.opts.Plan != nil {
		out.Plan = shownPlan(r.opts.Plan)
		out.Elsewhere = !r.opts.Mine()
		select {
		case <-r.ask(time.Now()):
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out.Stored = r.stored
	for id, c := range r.checks {
		out.Checks[id] = c
	}
	switch {
	case r.running != nil:
		running := *r.running
		out.Running = &running
	case r.planned:
		out.Running = &manage.BackupProgress{Destination: out.Plan.Destination}
	}
	return out
}

// addRecord adds what the record tells.
func (r *Runner) addRecord(out *manage.BackupStatus) {
	var err error
	if out.Record, err = r.LastBackup(); err != nil {
		out.RecordError = redact.Text(err.Error())
	}
	for _, run := range []*backup.Run{out.Record.Last, out.Record.LastGood} {
		if run != nil {
			run.Destination, run.Error = redact.URL(run.Destination), redact.Text(run.Error)
		}
	}
}

func shownPlan(plan *config.Backup) *manage.BackupPlan {
	out := &manage.BackupPlan{Destination: redact.URL(plan.To), Every: plan.Every, Mirrors: plan.Mirrors, Keep: plan.Keep}
	switch {
	case plan.Recipients != "":
		out.Encrypted = "public keys"
	case plan.PassphraseFile != "":
		out.Encrypted = "a passphrase"
	}
	return out
}
