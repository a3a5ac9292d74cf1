package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// BackupConfig is a measurement of backups of a data directory.
type BackupConfig struct {
	// Trawl is the binary, Data the data directory, which is copied, Work an
	// empty directory.
	Trawl, Data, Work string
	// Queries is how many are asked before and after, Seed what they are made
	// with.
	Queries int
	Seed    uint64
	// Recipient encrypts, if set, to a public key, and Identity is the file with
	// the private one.
	Recipient, Identity string
	// Note, if set, hears what is being done.
	Note func(string)
}

// BackupReport is what came out.
type BackupReport struct {
	// Bytes is the size of the files in the backup.
	Bytes int64
	// First is how long the first backup took, Again one of the same, with
	// SentFirst and SentAgain bytes sent. Idle is the first backup into another
	// folder while no search ran.
	First, Again, Idle   time.Duration
	SentFirst, SentAgain int64
	// Verify and Restore are how long these took.
	Verify, Restore time.Duration
	// Quiet are the times of searches before, sorted, Busy of those that were
	// asked while a backup was made.
	Quiet, Busy []time.Duration
	// Queries is how many answers were compared, with Matches matches, Different
	// those that were others after the restore.
	Queries, Matches int
	Different        []string
}

// The targets.
const (
	backupFirstWithin = 15 * time.Second
	backupAgainWithin = 2 * time.Second
	backupSlowsBy     = 2
)

// OK reports whether all targets are met.
func (r *BackupReport) OK() bool {
	return r.First <= backupFirstWithin && r.Again <= backupAgainWithin && len(r.Different) == 0 &&
		quantile(r.Busy, 0.99) <= backupSlowsBy*quantile(r.Quiet, 0.99)
}

// Write prints the report for people.
func (r *BackupReport) Write(w io.Writer) error {
	mb := func(n int64) float64 { return float64(n) / 1e6 }
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	lines := []string{
		fmt.Sprintf("data in the backup                %8.1f MB", mb(r.Bytes)),
		fmt.Sprintf("first backup, with searches       %8.2f s   %.1f MB sent", r.First.Seconds(), mb(r.SentFirst)),
		fmt.Sprintf("first backup, without             %8.2f s", r.Idle.Seconds()),
		fmt.Sprintf("backup when nothing changed       %8.2f s   %.3f MB sent", r.Again.Seconds(), mb(r.SentAgain)),
		fmt.Sprintf("verify                            %8.2f s", r.Verify.Seconds()),
		fmt.Sprintf("restore                           %8.2f s", r.Restore.Seconds()),
		fmt.Sprintf("searches before, p50 and p99      %8.1f ms  %.1f ms (%d)", ms(quantile(r.Quiet, 0.5)), ms(quantile(r.Quiet, 0.99)), len(r.Quiet)),
		fmt.Sprintf("searches meanwhile, p50 and p99   %8.1f ms  %.1f ms (%d)", ms(quantile(r.Busy, 0.5)), ms(quantile(r.Busy, 0.99)), len(r.Busy)),
		fmt.Sprintf("answers after the restore         %8d of %d the same, %d matches", r.Queries-len(r.Different), r.Queries, r.Matches),
	}
	for _, q := range r.Different {
		lines = append(lines, "another answer: "+q)
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(w, l); err != nil {
			return err
		}
	}
	return nil
}

// RunBackup serves a copy of a data directory, backs it up while it is
// searched, restores it, and compares the answers.
func RunBackup(ctx context.Context, c BackupConfig) (_ *BackupReport, err error) {
	if c.Note == nil {
		c.Note = func(string) {}
	}
	b := &backupRun{BackupConfig: c, data: filepath.Join(c.Work, "data"), dest: filepath.Join(c.Work, "backups"), report: &BackupReport{}}
	c.Note("copying the data directory")
	if err := os.CopyFS(b.data, os.DirFS(c.Data)); err != nil {
		return nil, err
	}
	if err := b.original(ctx); err != nil {
		return nil, err
	}
	return b.report, b.restored(ctx)
}

// backupRun is a RunBackup at work.
type backupRun struct {
	BackupConfig
	data, dest string
	queries    []string
	answers    []storedAnswer
	report     *BackupReport
}

func (b *backupRun) trawl(data string) *trawl {
	return &trawl{binary: b.Trawl, data: data, serveArgs: []string{"--sync-interval", "0", "--log-level", "warn"}}
}

// command runs trawl and reads the line of JSON that it prints, into out.
func (b *backupRun) command(ctx context.Context, out any, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, b.Trawl, args...)
	cmd.Env = b.trawl(b.data).env()
	begun := time.Now()
	text, err := cmd.Output()
	took := time.Since(begun)
	if err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			err = fmt.Errorf("%w: %s", err, lastBytes(ended.Stderr, 500))
		}
		return took, fmt.Errorf("trawl %s: %w", args[1], err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return took, fmt.Errorf("trawl %s: %w", args[1], err)
	}
	return took, nil
}

// original is what is done with the data directory itself.
func (b *backupRun) original(ctx context.Context) (err error) {
	s, err := b.trawl(b.data).serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	b.Note("making queries")
	if b.queries, err = storedQueries(ctx, s.asker, b.Queries, b.Seed); err != nil {
		return err
	}
	b.Note("asking them")
	for _, q := range b.queries {
		a, err := answerOf(ctx, s.asker, q)
		if err != nil {
			return err
		}
		b.answers = append(b.answers, a)
		b.report.Matches += a.matches
	}
	if b.report.Quiet, err = b.ask(ctx, s.asker, nil); err != nil {
		return err
	}
	slices.Sort(b.report.Quiet)
	b.Note("backing up while they are asked")
	if err := b.whileSearched(ctx, s.asker); err != nil {
		return err
	}
	b.Note("backing up again, and into another folder")
	var res backupResult
	if b.report.Again, err = b.create(ctx, &res, b.dest); err != nil {
		return err
	}
	b.report.SentAgain = res.SentBytes
	b.report.Idle, err = b.create(ctx, &res, b.dest+"-idle")
	return err
}

// backupResult is the part of what trawl backup create prints that is read.
type backupResult struct {
	Bytes     int64 `json:"bytes"`
	SentBytes int64 `json:"sentBytes"`
}

func (b *backupRun) create(ctx context.Context, res *backupResult, dest string) (time.Duration, error) {
	args := []string{"backup", "create", "--json", "--data", b.data}
	if b.Recipient != "" {
		args = append(args, "--recipient", b.Recipient)
	}
	return b.command(ctx, res, append(args, dest)...)
}

// whileSearched makes the first backup beside a client that searches.
func (b *backupRun) whileSearched(ctx context.Context, a *asker) error {
	made := make(chan struct{})
	var cerr error
	var res backupResult
	go func() {
		defer close(made)
		b.report.First, cerr = b.create(ctx, &res, b.dest)
	}()
	busy, err := b.ask(ctx, a, made)
	<-made
	slices.Sort(busy)
	b.report.Busy, b.report.Bytes, b.report.SentFirst = busy, res.Bytes, res.SentBytes
	return errors.Join(err, cerr)
}

// ask asks the queries one after the other, once, or again and again until
// something has ended, and returns how long each took.
func (b *backupRun) ask(ctx context.Context, a *asker, until <-chan struct{}) ([]time.Duration, error) {
	var times []time.Duration
	for {
		for _, q := range b.queries {
			answer, err := a.search(ctx, q, "keyword", nil)
			if err != nil {
				return nil, err
			}
			times = append(times, answer.Done)
			select {
			case <-until:
				return times, nil
			default:
			}
		}
		if until == nil {
			return times, nil
		}
	}
}

// restored is what is done with the restored directory.
func (b *backupRun) restored(ctx context.Context) (err error) {
	var key []string
	if b.Identity != "" {
		key = []string{"--identity-file", b.Identity}
	}
	b.Note("verifying")
	if b.report.Verify, err = b.command(ctx, &struct{}{}, slices.Concat([]string{"backup", "verify", "--json"}, key, []string{b.dest})...); err != nil {
		return err
	}
	b.Note("restoring")
	fresh := filepath.Join(b.Work, "restored")
	if b.report.Restore, err = b.command(ctx, &struct{}{}, slices.Concat([]string{"backup", "restore", "--json", "--data", fresh}, key, []string{b.dest})...); err != nil {
		return err
	}
	s, err := b.trawl(fresh).serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	b.Note("asking the queries again")
	b.report.Queries = len(b.queries)
	for i, q := range b.queries {
		a, err := answerOf(ctx, s.asker, q)
		if err != nil {
			return err
		}
		if a != b.answers[i] {
			b.report.Different = append(b.report.Different, q)
		}
	}
	return nil
}
