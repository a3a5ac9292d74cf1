package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/object/s3"
	"github.com/trawlsearch/trawl/store/redact"
)

const fileScheme = "file://"

// OpenDestination returns the destination that people write as an absolute path, as
// file:///path (RFC 8089) or as s3://bucket/prefix. The credentials of a bucket are in
// the environment.
func OpenDestination(text string) (object.Store, error) {
	if strings.HasPrefix(text, fileScheme) {
		u, err := url.Parse(text)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("%q is no folder of this machine: write file:///path", redact.URL(text))
		}
		text = u.Path
	}
	switch {
	case strings.HasPrefix(text, s3.Scheme):
		return s3.Open(text, os.Getenv)
	case strings.Contains(text, "://"):
		return nil, fmt.Errorf("%q is no destination: write a path, or s3://bucket/prefix", redact.URL(text))
	case !filepath.IsAbs(text):
		return nil, fmt.Errorf("%q is no absolute path", text)
	}
	return object.NewFolder(disk.OS(), filepath.Clean(text)), nil
}

var _ admin.Backups = (*Service)(nil)

// errBackup is that of a backup beside another.
var errBackup = errors.New("a backup is being made already: wait until it has ended")

// Backup makes a backup while everything else goes on.
func (s *Service) Backup(ctx context.Context, ask admin.Backup, report func(backup.Progress)) (backup.Result, error) {
	if !s.backingUp.TryLock() {
		return backup.Result{}, errBackup
	}
	defer s.backingUp.Unlock()
	ctx, cancel := s.untilStop(ctx)
	defer cancel()
	defer s.busy.begin()()
	begun := time.Now()
	report, ended := s.backups.begin(ask.Destination, begun, report)
	defer ended()
	dest, err := OpenDestination(ask.Destination)
	if err == nil {
		err = s.apart(ask.Destination)
	}
	if err != nil {
		run := backup.Run{Started: begun.UTC(), Destination: redact.URL(ask.Destination), Error: redact.Text(err.Error())}
		return backup.Result{}, errors.Join(err, backup.Note(s.store.FS(), s.store.Dir(), run))
	}
	return backup.Create(ctx, s.store, dest, backup.Options{
		Keys:    backup.Keys{Recipients: ask.Recipients, Passphrase: ask.Passphrase},
		Mirrors: ask.Mirrors, ReadAll: ask.ReadAll, Program: program(),
		Report: report, Yield: s.giveWay,
	})
}

// apart refuses a destination in the data directory, which it is to survive.
func (s *Service) apart(destination string) error {
	inside, err := filepath.Rel(onDisk(s.store.Dir()), onDisk(destination))
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
func (s *Service) giveWay(ctx context.Context) error {
	if s.searches.Working() == 0 {
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
func (s *Service) LastBackup() (backup.Record, error) {
	return backup.LastRun(s.store.FS(), s.store.Dir())
}

// scheduledBackup makes a backup of the plan and deletes those that are not to be
// kept. It reports whether there is a new one.
func (s *Service) scheduledBackup(ctx context.Context, plan *config.Backup) bool {
	log := s.opts.Log.With().Str("destination", redact.URL(plan.To)).Logger()
	ask := admin.Backup{Destination: plan.To, Mirrors: plan.Mirrors, Recipients: plan.Recipients}
	var err error
	if plan.PassphraseFile != "" {
		ask.Passphrase, err = ReadPassphrase(plan.PassphraseFile)
	}
	if err != nil {
		run := backup.Run{Started: time.Now().UTC(), Destination: redact.URL(plan.To), Error: redact.Text(err.Error())}
		err = errors.Join(err, backup.Note(s.store.FS(), s.store.Dir(), run))
		log.Error().Err(err).Msg("backup failed")
		return false
	}
	res, err := s.Backup(ctx, ask, logWaits(log))
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

// program names this program in backups.
func program() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return "trawl " + info.Main.Version
	}
	return "trawl"
}

// maxPassphraseBytes bounds a passphrase.
const maxPassphraseBytes = 4 << 10

// ReadPassphrase returns the first line of a file.
func ReadPassphrase(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("passphrase file: %w", err)
	}
	if info.Size() > maxPassphraseBytes {
		return "", fmt.Errorf("passphrase file %s has %d bytes, and %d can be", path, info.Size(), maxPassphraseBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("passphrase file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("passphrase file %s is empty: put a passphrase into its first line", path)
	}
	return line, nil
}
