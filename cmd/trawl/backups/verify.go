package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/backup"
)

const (
	// verifyWithin bounds a verification, mostChecks and mostDamage what is remembered of
	// them.
	verifyWithin = 24 * time.Hour
	mostChecks   = 50
	mostDamage   = 10
	maxBackupID  = 100
)

// errLong is that of a verification that takes longer.
var errLong = fmt.Errorf("it has not ended within %s", verifyWithin)

// VerifyBackup has Run verify a backup, one at a time.
func (r *Runner) VerifyBackup(id string) error {
	if r.opts.Plan == nil {
		return errNoPlan
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// In a cluster, another node may have shown the list.
	if len(id) > maxBackupID || !r.stored.Seen.IsZero() && !r.has(id) {
		return errors.New("the destination had no such backup when it was last listed: open the page again")
	}
	if r.verifying {
		return errors.New("a backup is being verified already: wait until that has ended")
	}
	r.verifying = true
	r.forget()
	r.checks[id] = manage.BackupCheck{BackupProgress: manage.BackupProgress{Started: time.Now()}}
	leaveWord(r.check, id)
	return nil
}

func (r *Runner) has(id string) bool {
	return slices.ContainsFunc(r.stored.All, func(b backup.Summary) bool { return b.ID == id })
}

// forget makes room for one more check.
func (r *Runner) forget() {
	for len(r.checks) >= mostChecks {
		oldest := ""
		for id, c := range r.checks {
			if oldest == "" || c.Started.Before(r.checks[oldest].Started) {
				oldest = id
			}
		}
		delete(r.checks, oldest)
	}
}

// keepVerified verifies the backups that VerifyBackup asks for, until ctx ends.
func (r *Runner) keepVerified(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-r.check:
			r.verify(ctx, id)
		}
	}
}

func (r *Runner) verify(ctx context.Context, id string) {
	ctx, cancel := r.opts.UntilStop(ctx)
	defer cancel()
	ctx, ended := context.WithTimeoutCause(ctx, verifyWithin, errLong)
	defer ended()
	change := func(to func(*manage.BackupCheck)) {
		r.mu.Lock()
		defer r.mu.Unlock()
		c := r.checks[id]
		to(&c)
		r.checks[id] = c
	}
	v, err := readWhole(ctx, r.opts.Plan, id, func(p backup.Progress) {
		change(func(c *manage.BackupCheck) { c.Phase, c.DoneBytes, c.TotalBytes = p.Phase, p.DoneBytes, p.TotalBytes })
	})
	change(func(c *manage.BackupCheck) {
		c.Ended, c.Decrypted = time.Now(), v.Decrypted
		c.Damage = slices.Clone(v.Damage[:min(len(v.Damage), mostDamage)])
		c.More = len(v.Damage) - len(c.Damage)
		if err != nil {
			c.Error = backup.Brief(cmp.Or(context.Cause(ctx), err).Error())
		}
	})
	log := r.opts.Log.Info()
	if err != nil || len(v.Damage) > 0 {
		log = r.opts.Log.Warn().Err(err)
	}
	log.Str("backup", id).Int("damaged", len(v.Damage)).Bool("decrypted", v.Decrypted).Msg("backup verified")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verifying = false
}

// readWhole reads a backup of a plan, with the passphrase if there is one: private keys are
// not here.
func readWhole(ctx context.Context, plan *config.Backup, id string, report func(backup.Progress)) (v backup.Verified, err error) {
	o := backup.VerifyOptions{Backups: []string{id}, Workers: 1, Report: report}
	if plan.PassphraseFile != "" {
		if o.Keys.Passphrase, err = ReadPassphrase(plan.PassphraseFile); err != nil {
			return v, err
		}
	}
	dest, err := OpenDestination(plan.To)
	if err != nil {
		return v, err
	}
	return backup.Verify(ctx, dest, o)
}
