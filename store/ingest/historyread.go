package ingest

import (
	"context"
	"errors"
	"sort"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// batchCommits is how many commits one git process reads: enough for its start,
// some milliseconds, not to count.
const batchCommits = 4096

// read writes the commits of the plan.
func (j *historyJob) read(ctx context.Context, p *historyPlan) error {
	j.progress = Progress{Phase: "history", Total: p.len()}
	// Positions rise, so those with diffs come first.
	deep := sort.Search(p.len(), func(i int) bool { return int(p.position[i]) >= p.diffs })
	for at := 0; at < p.len(); {
		depth, end := git.LogHunks, deep
		if at >= deep {
			depth, end = git.LogPaths, p.len()
		}
		end = min(end, at+batchCommits)
		if err := j.readBatch(ctx, p, at, end, depth); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// callbackError marks an error of ours, as opposed to one of git's.
type callbackError struct{ error }

// readBatch reads some commits. One that git cannot compare with its parent is
// read without diffs, or if need be without paths.
func (j *historyJob) readBatch(ctx context.Context, p *historyPlan, at, end int, depth git.LogDepth) error {
	for at < end {
		err := j.readLog(ctx, p, &at, end, depth)
		if err == nil {
			return nil
		}
		var ours callbackError
		switch {
		case errors.As(err, &ours):
			return ours.error
		case ctx.Err() != nil || errors.Is(err, git.ErrBusy):
			return err // no commit is to blame
		case at == end:
			return nil // git died of nothing that is wanted
		}
		// It died of this commit or of the next one.
		damaged := at
		for _, less := range []git.LogDepth{depth, git.LogPaths, git.LogMessages} {
			if at == damaged {
				err = j.readLog(ctx, p, &at, at+1, less)
			}
		}
		if errors.As(err, &ours) {
			return ours.error
		}
		if at == damaged {
			return err
		}
	}
	return nil
}

// readLog adds the commits from at, which it moves on, up to end.
func (j *historyJob) readLog(ctx context.Context, p *historyPlan, at *int, end int, depth git.LogDepth) error {
	return j.git.Log(ctx, p.ids(*at, end), j.logOptions(depth), func(c *git.Commit) error {
		if err := j.add(ctx, p, *at, c, depth); err != nil {
			return callbackError{err}
		}
		*at++
		return nil
	})
}

func (j *historyJob) logOptions(depth git.LogDepth) git.LogOptions {
	o := git.LogOptions{Depth: depth, MaxFileBytes: git.MaxDiffBytes, MaxCommitBytes: git.MaxCommitBytes, MaxFiles: git.MaxCommitFiles}
	if !j.small {
		o.Mailmap = j.tip
	}
	return o
}

// add writes a commit, or if it is one of a small history holds it.
func (j *historyJob) add(ctx context.Context, p *historyPlan, i int, c *git.Commit, depth git.LogDepth) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	out := shard.Commit{
		Repository: j.id, OID: unhex(c.OID), Author: j.signature(c.Author), Committer: j.signature(c.Committer),
		Effective: p.effective[i], Sequence: j.sequence, Position: p.position[i], MoreFiles: uint32(c.MoreFiles),
	}
	wanted := int(p.position[i]) < p.diffs
	switch {
	case c.Merge():
		out.State = shard.CommitMerge
	case wanted && depth != git.LogHunks || depth == git.LogMessages:
		out.State = shard.CommitUnreadable
	case !wanted:
		out.State = shard.CommitPaths
	}
	files := changedFiles(c, wanted)
	out.MoreFiles += uint32(len(c.Files) - len(files))
	if j.small {
		j.note(out, c, files)
		return j.hold(out, c, files)
	}
	if !j.writer.FitsCommit(c.Message, files) && !j.writer.Empty() {
		if err := j.finish(ctx); err != nil {
			return err
		}
	}
	if err := j.writer.AddCommit(out, c.Message, files); err != nil {
		return err
	}
	j.note(out, c, files)
	return nil
}

// note counts a commit that was written.
func (j *historyJob) note(c shard.Commit, from *git.Commit, files []shard.ChangedFile) {
	n := &j.pending
	n.commits++
	if c.State == shard.CommitRead {
		n.diffs++
	}
	for i := range files {
		j.progress.Bytes += int64(len(files[i].Hunks))
		if files[i].Reason == shard.ReasonTooLarge {
			n.tooLarge++
		}
	}
	n.newest = max(n.newest, c.Committer.Seconds)
	j.progress.Bytes += int64(len(from.Message))
	if j.progress.Done++; !j.small && (j.progress.Done%reportEvery == 0 || j.progress.Done == j.progress.Total) {
		j.report(j.progress)
	}
}

// signature also notes whom the mailmap has for the person.
func (j *historyJob) signature(s git.Signature) shard.Signature {
	p := shard.Person(s.Person)
	if s.Mapped != s.Person {
		if j.people == nil {
			j.people = store.People{}
		}
		j.people[p] = shard.Person(s.Mapped)
	}
	return shard.Signature{Person: p, Seconds: s.Seconds, ZoneMinutes: int16(s.ZoneMinutes)}
}

// changedFiles translates; wanted says that diffs were to be read. A file with
// a path too long for a document is left out.
func changedFiles(c *git.Commit, wanted bool) []shard.ChangedFile {
	files := make([]shard.ChangedFile, 0, len(c.Files))
	for i := range c.Files {
		d := &c.Files[i]
		if len(d.Path) > shard.MaxPathBytes {
			continue
		}
		f := shard.ChangedFile{Path: d.Path, OldPath: d.OldPath, Status: d.Status, Mode: d.NewMode, Hunks: d.Hunks}
		if d.Status == 'D' {
			f.Mode = d.OldMode
		}
		switch {
		case d.State == git.DiffBinary:
			f.Reason = shard.ReasonBinary
		case d.State == git.DiffTooLarge:
			f.Reason = shard.ReasonTooLarge
		case d.State == git.DiffUnread && wanted:
			f.Reason = shard.ReasonCorrupt
		case d.State == git.DiffUnread:
			f.Reason = shard.ReasonTooOld
		}
		files = append(files, f)
	}
	return files
}
