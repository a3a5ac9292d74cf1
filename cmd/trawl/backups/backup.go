package backups

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/redact"
)

// errBackup is that of a backup beside another.
var errBackup = errors.New("a backup is being made already: wait until it has ended")

// Backup makes a backup while everything else goes on.
func (r *Runner) Backup(ctx context.Context, ask admin.Backup, report func(backup.Progress)) (backup.Result, error) {
	if !r.making.TryLock() {
		return backup.Result{}, errBackup
	}
	defer r.making.Unlock()
	ctx, cancel := r.opts.UntilStop(ctx)
	defer cancel()
	defer r.opts.Busy()()
	begun := time.Now()
	report, ended := r.begin(ask.Destination, begun, report)
	defer ended()
	dest, err := OpenDestination(ask.Destination)
	if err == nil {
		err = r.apart(ask.Destination)
	}
	if err != nil {
		return backup.Result{}, r.noteFailure(ask.Destination, begun, err)
	}
	return backup.Create(ctx, r.opts.Store, dest, backup.Options{
		Keys:    backup.Keys{Recipients: ask.Recipients, Passphrase: ask.Passphrase},
		Mirrors: ask.Mirrors, ReadAll: ask.ReadAll, Program: r.opts.Program,
		Report: report, Yield: r.giveWay,
	})
}

// noteFailure adds a backup that did not begin to the record.
func (r *Runner) noteFailure(destination string, begun time.Time, err error) error {
	run := backup.Run{Started: begun.UTC(), Destination: redact.URL(destination), Error: redact.Text(err.Error())}
	return errors.Join(err, backup.Note(r.opts.Store.FS(), r.opts.Store.Dir(), run))
}

// apart refuses a destination in the data directory, which it is to survive.
func (r *Runner) apart(destination string) error {
	inside, err := filepath.Rel(onDisk(r.opts.Store.Dir()), onDisk(destination))
	if err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return fmt.Errorf("%s is in the data directory, and would be lost with it: give another destination", destination)
	}
	return nil
}

// onDisk follows the symbolic links of a path, of which the end need not be there.
func onDisk(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path || parent == "." {
		return path
	}
	return filepath.Join(onDisk(parent), filepath.Base(path))
}

// giveWayFor is how long a backup pauses before each 4 MiB while searches run.
// At 2 workers that leaves it 200 MB a second at most.
const giveWayFor = 40 * time.Millisecond

// giveWay lets searches have the processor and the disk.
func (r *Runner) giveWay(ctx context.Context) error {
	if r.opts.Searching() == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(giveWayFor):
		return nil
	}
}

// LastBackup returns what is remembered of backups of the data directory.
func (r *Runner) LastBackup() (backup.Record, error) {
	return backup.LastRun(r.opts.Store.FS(), r.opts.Store.Dir())
}

// scheduled makes a backup of the plan and deletes those that are not to be
// kept. It reports whether there is a new one.
func (r *Runner) scheduled(ctx context.Context) bool {
	plan := r.opts.Plan
	log := r.opts.Log.With().Str("destination", redact.URL(plan.To)).Logger()
	ask := admin.Backup{Destination: plan.To, Mirrors: plan.Mirrors, Recipients: plan.Recipients}
	var err error
	if plan.PassphraseFile != "" {
		ask.Passphrase, err = ReadPassphrase(plan.PassphraseFile)
	}
	if err != nil {
		log.Error().Err(r.noteFailure(plan.To, time.Now(), err)).Msg("backup failed")
		return false
	}
	res, err := r.Backup(ctx, ask, logWaits(log))
	if err != nil {
		if ctx.Err() == nil {
			log.Error().Err(err).Msg("backup failed")
		}
		return false
	}
	log.Info().Str("backup", res.Backup).Int64("bytes", res.Bytes).Int64("sent_bytes", res.SentBytes).Int64("took_ms", res.Took.Milliseconds()).Msg("backup made")
	if plan.Keep != (backup.Keep{}) {
		prune(ctx, plan, log)
	}
	return true
}

// prune deletes the backups that a plan does not keep.
func prune(ctx context.Context, plan *config.Backup, log zerolog.Logger) {
	dest, err := OpenDestination(plan.To)
	var pruned backup.Pruned
	if err == nil {
		pruned, err = backup.Prune(ctx, dest, backup.PruneOptions{Keep: plan.Keep, Report: logWaits(log)})
	}
	switch {
	case err != nil && ctx.Err() == nil:
		log.Error().Err(err).Msg("prune backups")
	case len(pruned.Removed) > 0:
		log.Info().Int("removed", len(pruned.Removed)).Int("kept", len(pruned.Kept)).Int64("bytes", pruned.Bytes).Msg("backups pruned")
	}
}

// logWaits returns what logs once that a backup or a prune waits for another.
func logWaits(log zerolog.Logger) func(backup.Progress) {
	said := false
	return func(p backup.Progress) {
		if !said && (p.Phase == backup.PhaseWait || p.Phase == backup.PhaseWatch) {
			said = true
			log.Info().Msg("waiting for another at the destination of backups, a minute if it was killed")
		}
	}
}
