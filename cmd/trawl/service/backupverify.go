package service

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

// VerifyBackup has VerifyBackups verify a backup, one at a time.
func (s *Service) VerifyBackup(id string) error {
	if s.set.Backup == nil {
		return errNoPlan
	}
	w := s.backups
	w.mu.Lock()
	defer w.mu.Unlock()
	// In a cluster, another node may have shown the list.
	if len(id) > maxBackupID || !w.stored.Seen.IsZero() && !w.has(id) {
		return errors.New("the destination had no such backup when it was last listed: open the page again")
	}
	if w.verifying {
		return errors.New("a backup is being verified already: wait until that has ended")
	}
	w.verifying = true
	w.forget()
	w.checks[id] = manage.BackupCheck{BackupProgress: manage.BackupProgress{Started: time.Now()}}
	leaveWord(w.check, id)
	return nil
}

func (w *backupWork) has(id string) bool {
	return slices.ContainsFunc(w.stored.All, func(b backup.Summary) bool { return b.ID == id })
}

// forget makes room for one more check.
func (w *backupWork) forget() {
	for len(w.checks) >= mostChecks {
		oldest := ""
		for id, c := range w.checks {
			if oldest == "" || c.Started.Before(w.checks[oldest].Started) {
				oldest = id
			}
		}
		delete(w.checks, oldest)
	}
}

// VerifyBackups verifies the backups that VerifyBackup asks for, until ctx ends.
func (s *Service) VerifyBackups(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-s.backups.check:
			s.verifyBackup(ctx, id)
		}
	}
}

func (s *Service) verifyBackup(ctx context.Context, id string) {
	ctx, cancel := s.untilStop(ctx)
	defer cancel()
	ctx, ended := context.WithTimeoutCause(ctx, verifyWithin, errLong)
	defer ended()
	w := s.backups
	change := func(to func(*manage.BackupCheck)) {
		w.mu.Lock()
		defer w.mu.Unlock()
		c := w.checks[id]
		to(&c)
		w.checks[id] = c
	}
	v, err := verify(ctx, s.set.Backup, id, func(p backup.Progress) {
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
	log := s.opts.Log.Info()
	if err != nil || len(v.Damage) > 0 {
		log = s.opts.Log.Warn().Err(err)
	}
	log.Str("backup", id).Int("damaged", len(v.Damage)).Bool("decrypted", v.Decrypted).Msg("backup verified")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.verifying = false
}

// verify reads a backup of a plan, with the passphrase if there is one: private keys are
// not here.
func verify(ctx context.Context, plan *config.Backup, id string, report func(backup.Progress)) (v backup.Verified, err error) {
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
