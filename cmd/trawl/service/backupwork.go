package service

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/redact"
)

var _ manage.Backups = (*Service)(nil)

// backupWork is what is done about backups, and what is known of their destination.
// Those who ask for work leave word in a channel, and do not wait for it.
type backupWork struct {
	// wake holds a token when a backup of the plan is to be made now, look when the
	// destination is to be listed, and check the ID of a backup to verify.
	wake, look chan struct{}
	check      chan string

	mu sync.Mutex // guards the rest
	// planned says that a backup of the plan is at work or asked for, with the prune
	// behind it; running is the backup at work, of whatever plan, nil if none is.
	planned bool
	running *manage.BackupProgress
	// stored is what the destination has, answered is closed when the look at work ends.
	stored   manage.StoredBackups
	answered chan struct{}
	// verifying says that a verification is at work or asked for; checks are remembered.
	verifying bool
	checks    map[string]manage.BackupCheck
}

func newBackupWork() *backupWork {
	return &backupWork{
		wake: make(chan struct{}, 1), look: make(chan struct{}, 1), check: make(chan string, 1), checks: map[string]manage.BackupCheck{},
	}
}

// leaveWord puts what is asked for into a channel of one, unless it is there.
func leaveWord[T any](to chan T, word T) {
	select {
	case to <- word:
	default:
	}
}

// wait lets time pass, until a backup is asked for at most.
func (w *backupWork) wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-w.wake:
		return true
	case <-time.After(d):
		return true
	}
}

// plan notes that a backup of the plan is at work, which is the one that was asked for
// if one was, until ended is called.
func (w *backupWork) plan() (ended func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planned = true
	select {
	case <-w.wake:
	default:
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.planned = false
	}
}

// begin notes that a backup is at work until ended is called, and how far it is.
func (w *backupWork) begin(destination string, begun time.Time, report func(backup.Progress)) (reporting func(backup.Progress), ended func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = &manage.BackupProgress{Started: begun, Destination: redact.URL(destination)}
	reporting = func(p backup.Progress) {
		w.mu.Lock()
		w.running.Phase, w.running.DoneBytes, w.running.TotalBytes = p.Phase, p.DoneBytes, p.TotalBytes
		w.mu.Unlock()
		report(p)
	}
	return reporting, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running = nil
	}
}

// errNoPlan is that of work for which the configuration file has to name a destination.
var errNoPlan = errors.New("the configuration file has no section backup: docs/backup.md shows one")

// BackUpNow has KeepBackups make a backup at once.
func (s *Service) BackUpNow() error {
	switch {
	case s.set.Backup == nil:
		return errNoPlan
	case !s.node.Does(node.TaskBackup):
		return errors.New("another node makes the backups now: ask there, or wait for the next")
	}
	w := s.backups
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.planned || w.running != nil {
		return errBackup
	}
	w.planned = true
	leaveWord(w.wake, struct{}{})
	return nil
}

// BackupStatus tells of the backups. It has the destination asked anew, and waits for
// that until ctx ends: what is known from before is told then.
func (s *Service) BackupStatus(ctx context.Context) (out manage.BackupStatus) {
	out = manage.BackupStatus{Checks: map[string]manage.BackupCheck{}}
	// Last, as a backup that is seen not to be at work any more is in the record.
	defer s.addRecord(&out)
	w := s.backups
	if plan := s.set.Backup; plan != nil {
		out.Plan = shownPlan(plan)
		out.Elsewhere = !s.node.Does(node.TaskBackup)
		select {
		case <-w.ask(time.Now()):
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Stored = w.stored
	for id, c := range w.checks {
		out.Checks[id] = c
	}
	switch {
	case w.running != nil:
		running := *w.running
		out.Running = &running
	case w.planned:
		out.Running = &manage.BackupProgress{Destination: out.Plan.Destination}
	}
	return out
}

// addRecord adds what the record tells.
func (s *Service) addRecord(out *manage.BackupStatus) {
	var err error
	if out.Record, err = s.LastBackup(); err != nil {
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
