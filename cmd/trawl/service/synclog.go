package service

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/query/search/lru"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/shard"
)

// The last sync of a repository that did something has a log, for people who ask why it
// failed or takes long. Logs are kept in memory only: what has to be known later is in
// the record of the repository. A log takes 16 KiB at most.
const (
	// mostLogs is how many logs are kept, those of the syncs that came last.
	mostLogs = 1000
	// mostSaidBytes is how much of what git said a log has, mostErrorBytes how much of
	// an error, and mostBranchBytes of the name of a branch.
	mostSaidBytes   = 4 << 10
	mostErrorBytes  = 4 << 10
	mostBranchBytes = 100
	// mostBranches is how many branches that have changed a log names.
	mostBranches = 20
)

// syncLogs are the logs of the last syncs, by repository.
type syncLogs struct {
	// mu makes a change of a log one step.
	mu   sync.Mutex
	kept *lru.Cache[uint32, *manage.SyncLog]
}

func newSyncLogs() *syncLogs { return &syncLogs{kept: lru.New[uint32, *manage.SyncLog](mostLogs)} }

// put keeps the log of a sync in place of the one before.
func (l *syncLogs) put(id uint32, log *manage.SyncLog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept.Put(id, log, 1)
}

// follow adds to the log of a repository what was read behind its sync.
func (l *syncLogs) follow(f ingest.Followed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, ok := l.kept.Get(f.Repository)
	if !ok {
		return
	}
	next, step := *old, manage.SyncStep{Phase: f.Phase, Took: f.Took, Count: f.Count}
	if f.Err != nil {
		step.Error = plain(redact.Text(f.Err.Error()), mostErrorBytes/4)
	}
	next.Steps = slices.Clone(old.Steps)
	if i := slices.IndexFunc(next.Steps, func(s manage.SyncStep) bool { return s.Phase == f.Phase }); i < 0 {
		next.Steps = append(next.Steps, step)
	} else {
		if f.Phase == "symbols" { // which are read shard by shard
			step.Took, step.Count = step.Took+next.Steps[i].Took, step.Count+next.Steps[i].Count
		}
		next.Steps[i] = step
	}
	l.kept.Put(f.Repository, &next, 1)
}

// recording makes the log of a sync at work.
type recording struct {
	logs *syncLogs
	// before is the record when the sync began, nil if there was none.
	before *store.Repository
	began  time.Time

	mu sync.Mutex // guards all below
	// steps are those that were begun; now is the index of the one at work, which began,
	// or went on, at since.
	steps []manage.SyncStep
	now   int
	since time.Time
	git   gitLines
}

// record begins the log of a sync of a repository.
func (l *syncLogs) record(before *store.Repository, at time.Time) *recording {
	return &recording{logs: l, before: before, began: at, since: at}
}

// listen notes what a sync reports, and passes it on to report, if that is not nil.
func (rec *recording) listen(report func(ingest.Progress)) func(ingest.Progress) {
	return func(p ingest.Progress) {
		rec.note(p, time.Now())
		if report != nil {
			report(p)
		}
	}
}

func (rec *recording) note(p ingest.Progress, at time.Time) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.steps == nil {
		rec.steps = append(rec.steps, manage.SyncStep{Phase: "fetch"})
	}
	if p.Note != "" {
		rec.git.add(p.Note)
	}
	if p.Phase != rec.steps[rec.now].Phase {
		rec.pause(at)
		rec.now = slices.IndexFunc(rec.steps, func(s manage.SyncStep) bool { return s.Phase == p.Phase })
		if rec.now < 0 {
			rec.now = len(rec.steps)
			rec.steps = append(rec.steps, manage.SyncStep{Phase: p.Phase})
		}
	}
	if p.Phase == "index" {
		rec.steps[rec.now].Count = p.Done
	}
}

// pause counts the time of the step at work. mu is held.
func (rec *recording) pause(at time.Time) {
	if len(rec.steps) > 0 {
		rec.steps[rec.now].Took += at.Sub(rec.since)
	}
	rec.since = at
}

// end keeps the log, unless the sync found that nothing is to be done.
func (rec *recording) end(res ingest.Result, err error, at time.Time) {
	if rec.before == nil || err == nil && res.AsBefore {
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.pause(at)
	log := &manage.SyncLog{
		Began: rec.began.UTC(), Took: at.Sub(rec.began), Steps: rec.steps, Reindexed: rec.before.Reindexes(),
		Added: res.Added, Removed: res.Removed, Unchanged: res.Unchanged, Bytes: res.Bytes, Git: rec.git.lines,
	}
	for reason, n := range res.Reasons {
		if n > 0 {
			log.Skipped = append(log.Skipped, manage.SkippedCount{Reason: shard.Reason(reason).String(), Count: n})
		}
	}
	why := ""
	if err != nil {
		why = err.Error()
	} else if res.Repository != nil {
		why = res.Repository.LastError
		log.Branches, log.MoreBranches = branchChanges(rec.before.Branches, res.Repository.Branches)
	}
	log.Error = plain(redact.About(why, rec.before.Source), mostErrorBytes)
	rec.logs.put(rec.before.ID, log)
}

// branchChanges returns what has changed of the branches of a repository.
func branchChanges(before, after []store.Branch) (changes []manage.BranchChange, more int) {
	commits := map[string]string{}
	for _, b := range before {
		commits[b.Name] = b.Commit
	}
	add := func(c manage.BranchChange) {
		if len(changes) == mostBranches {
			more++
			return
		}
		c.Name = plain(c.Name, mostBranchBytes)
		changes = append(changes, c)
	}
	for _, b := range after {
		if commits[b.Name] != b.Commit {
			add(manage.BranchChange{Name: b.Name, Before: commits[b.Name], After: b.Commit})
		}
		delete(commits, b.Name)
	}
	for _, b := range before {
		if _, gone := commits[b.Name]; gone {
			add(manage.BranchChange{Name: b.Name, Before: b.Commit})
		}
	}
	return changes, more
}

// gitLines are the last lines that git said. A line of progress takes the place of the
// one before that counts the same.
type gitLines struct {
	lines []string
	bytes int
}

func (g *gitLines) add(line string) {
	line = plain(line, mostSaidBytes/8)
	if last := len(g.lines) - 1; last >= 0 && counted(line) != "" && counted(line) == counted(g.lines[last]) {
		g.bytes -= len(g.lines[last])
		g.lines = g.lines[:last]
	}
	g.lines, g.bytes = append(g.lines, line), g.bytes+len(line)
	for g.bytes > mostSaidBytes {
		g.bytes -= len(g.lines[0])
		g.lines = slices.Delete(g.lines, 0, 1)
	}
}

// counted returns what a line of progress counts, such as "Receiving objects", and ""
// for other lines.
func counted(line string) string {
	what, rest, ok := strings.Cut(line, ": ")
	if ok && what == "remote" {
		what, rest, ok = strings.Cut(rest, ": ")
	}
	if rest = strings.TrimLeft(rest, " "); !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return ""
	}
	return what
}

// plain returns a text without control characters, cut to so many bytes.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	if len(text) <= most {
		return text
	}
	const cut = " …"
	end := most - len(cut)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cut
}

// LastSync returns what is known of the last sync of a repository.
func (rs *Repositories) LastSync(ctx context.Context, r *store.Repository) (out manage.LastSync) {
	out.Log, _ = rs.logs.kept.Get(r.ID)
	if out.Log == nil {
		out.Node = rs.node.Holder(ctx, r.ID)
	}
	return out
}
