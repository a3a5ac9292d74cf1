package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// Limits bound the work of a search. No field is zero but Brute.
type Limits struct {
	// Workers is how many shards are planned and documents verified at once.
	Workers int
	// Brute searches every document by Go's regexp, without posting lists.
	Brute bool
	// MaxTextBytes is the size of the largest file whose text is searched through
	// git.
	MaxTextBytes int64
	// PlanBytes is about what the plan of one shard may hold.
	PlanBytes int
	// TopDocuments is how many documents are ranked before all others.
	TopDocuments int
}

// Task is one search at work: the snapshot that it reads, the repositories that
// exist for its client, its share of the machine, and the account that it keeps.
// It is safe for concurrent use, but for Slot.
type Task struct {
	Limits
	// Now returns the time. Start is when the search was first begun, which what it
	// finds may depend on.
	Now   func() time.Time
	Start time.Time

	Snapshot *store.Snapshot
	// IsVisible reports which repositories exist for the client; nil is all.
	// PublicIsVisible says that those without readers do.
	IsVisible       func(*store.Repository) bool
	PublicIsVisible bool
	// Only, if not 0, is the one repository that exists for the search.
	Only uint32
	// Visible are the repositories that exist for the client, as Hide finds them.
	Visible VisibleRepositories

	// Processors is the share of them that the search has, Slot that of the
	// goroutine that searches.
	Processors *admission.Share
	Slot       *admission.Slot
	Git        *Git
	// Client names the client, for a fair order of waiting searches.
	Client string

	Report *report.Report
	Trace  *report.Trace
	// TextsCut counts texts with more matches than are kept.
	TextsCut atomic.Int64
	// Scratches are *postings.Scratch that no search uses now.
	Scratches *sync.Pool
	// Damaged is called for each damaged shard.
	Damaged func(shard uint32, damage error)
	faults
}

// Step records a step that began at start and ends now.
func (t *Task) Step(name string, start time.Time, fields ...report.Field) {
	t.Trace.Add(report.Step{Name: name, Start: start.Sub(t.Start), Took: t.Now().Sub(start), Fields: fields})
}

// Note records something that happens now and takes no time.
func (t *Task) Note(name string, fields ...report.Field) {
	t.Trace.Add(report.Step{Name: name, Start: t.Now().Sub(t.Start), Fields: fields})
}

// Details returns fields that say what was read. There are none for a client
// that may not see all: a shard may hold documents that do not exist for them,
// and the lengths of its lists would tell what those hold; so would the number of
// candidates, since which lists are read depends on their lengths.
func (t *Task) Details(fields ...report.Field) []report.Field {
	if t.HidesDetails() {
		return nil
	}
	return fields
}

// HidesDetails reports whether the client is not shown what was read.
func (t *Task) HidesDetails() bool { return t.IsVisible != nil }

// WithoutLists reports whether a shard is searched by its text alone: as the
// oracle does, or because it also holds documents that do not exist for the
// client. Its lists are as long as all its documents make them, and so would
// be the time that it takes to read them. A merge parts such shards.
func (t *Task) WithoutLists(shard uint32) bool { return t.Brute || t.Visible.shared[shard] }

// GitSlot waits until git may run for this search, beside others. The client with
// the fewest slots goes next. The caller calls release.
func (t *Task) GitSlot(ctx context.Context) (release func(), err error) {
	return t.Git.slot(ctx, t.Client)
}

// LogSlot is GitSlot for a log with diffs, of up to git.MaxCommitBytes at a time.
func (t *Task) LogSlot(ctx context.Context) (release func(), err error) {
	return t.Git.logSlot(ctx, t.Client)
}

// faults are what could not be read, and is left out.
type faults struct {
	// timedOut says that repositories were reported as timed out. Only the goroutine of
	// the search changes it.
	timedOut bool

	mu sync.Mutex // guards what follows; nothing is called while it is held
	// failed are the shards of which some part could not be searched. unreachable
	// are the repositories that git could not read, busy those that git had no
	// memory for, fetching those that this node does not have yet, and files the files
	// that git could not read.
	failed                      map[uint32]bool
	unreachable, busy, fetching repositorySet
	files                       map[unreadFile]struct{}
}

// FailShard records that a shard could not be searched, or not all of it.
func (t *Task) FailShard(id uint32, err error) {
	t.Note(fmt.Sprintf("shard %d unreadable", id), report.Text("error", err.Error()))
	if shard.IsDamage(err) {
		t.Damaged(id, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = map[uint32]bool{}
	}
	t.failed[id] = true
}

// FailedShards returns the shards that could not be searched, or not all of them.
// The map belongs to the task, which no longer works.
func (t *Task) FailedShards() map[uint32]bool { return t.failed }

// CloneFailed returns the shards that have failed up to now, nil if none has.
func (t *Task) CloneFailed() map[uint32]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.failed)
}

// ResumeFaults has the task know the shards that failed in an earlier run.
func (t *Task) ResumeFaults(shards map[uint32]bool) { t.failed = shards }

// HasFailed reports whether a shard failed.
func (t *Task) HasFailed(shard uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed[shard]
}

// FailRepository records a repository that git cannot read.
func (t *Task) FailRepository(repo *store.Repository, err error) {
	if t.NoteUnready(repo, err) {
		return
	}
	t.Git.forget(repo) // it may have moved
	t.Note("read "+repo.Name, t.Details(report.Text("error", err.Error()))...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unreachable.add(repo)
}

// NoteUnready records a repository if err says that git can read it a little later: it
// had no memory for it, or the mirror is still being fetched.
func (t *Task) NoteUnready(repo *store.Repository, err error) bool {
	step, to := "no memory for git", &t.busy
	switch {
	case errors.Is(err, store.ErrFetching):
		step, to = "mirror not fetched yet", &t.fetching
	case !errors.Is(err, git.ErrBusy):
		return false
	}
	t.Note(step, t.Details(report.Text("repository", repo.Name), report.Text("error", err.Error()))...)
	t.mu.Lock()
	defer t.mu.Unlock()
	to.add(repo)
	return true
}

// FailFile records a file of a repository that git could not read.
func (t *Task) FailFile(repository uint32, path, oid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files == nil {
		t.files = map[unreadFile]struct{}{}
	}
	t.files[unreadFile{repository, path, oid}] = struct{}{}
}

// WhyUnread returns the reasons for which git did not read a repository, or not all
// of it.
func (t *Task) WhyUnread(repo *store.Repository) (reasons []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unreachable.has(repo) {
		reasons = append(reasons, report.ReasonMissing)
	}
	if t.busy.has(repo) {
		reasons = append(reasons, report.ReasonGitBusy)
	}
	if t.fetching.has(repo) {
		reasons = append(reasons, report.ReasonCloning)
	}
	return reasons
}

// ReportFaults adds the faults to the report. The task no longer works.
func (t *Task) ReportFaults() {
	skips := t.Report.Skips()
	skips.Add(report.GitBusy(t.busy.names()))
	skips.Add(report.Unreachable(t.unreachable.names()))
	skips.Add(report.Fetching(t.fetching.names()))
	skips.Add(report.ObjectsMissing(len(t.files)))
	skips.Add(report.UnreadableShards(len(t.failed)))
	skips.Add(report.UnreadableRecords(t.Snapshot.LostRepositories()))
}

// ReportTimedOut records the repositories that were not finished in time.
func (t *Task) ReportTimedOut(repos []*store.Repository) {
	t.timedOut = t.timedOut || len(repos) > 0
	t.Report.Skips().Add(report.TimedOut(NamesByID(repos)))
}

// NamesTimedOut reports whether a repository was reported as timed out.
func (t *Task) NamesTimedOut() bool { return t.timedOut }

// unreadFile is a file that git could not read.
type unreadFile struct {
	repository uint32
	path, oid  string
}

// repositorySet is a set of repositories. There are very many when a disk is gone.
type repositorySet map[uint32]*store.Repository

func (s *repositorySet) add(repo *store.Repository) {
	if *s == nil {
		*s = repositorySet{}
	}
	(*s)[repo.ID] = repo
}

func (s repositorySet) has(repo *store.Repository) bool { return s[repo.ID] != nil }

func (s repositorySet) names() []string { return NamesByID(slices.Collect(maps.Values(s))) }

// NamesByID sorts repositories by ID and returns their names.
func NamesByID(repos []*store.Repository) []string {
	slices.SortFunc(repos, func(a, b *store.Repository) int { return cmp.Compare(a.ID, b.ID) })
	names := make([]string, len(repos))
	for i, repo := range repos {
		names[i] = repo.Name
	}
	return names
}
