package scope

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/admit"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

const (
	// maxTreeFiles is how many files a commit may have, so that listing it takes
	// some hundred megabytes at most.
	maxTreeFiles = 2 << 20
	// maxTreeBytes is how much its paths may hold.
	maxTreeBytes = 256 << 20
	// maxContentsBytes bounds what one search keeps of commits, and what the
	// cache does.
	maxContentsBytes = 256 << 20
	cachedContents   = 64 << 20
)

// contentsKey is what contents depend on: the shards are written once, so their
// numbers stand for all that is in them.
type contentsKey struct {
	target.Key
	shards    string
	unindexed bool
}

// readContents lists the revisions that are not indexed, for basic queries that
// look at documents. Revisions beyond the limits are left out and reported.
func (s *Scope) readContents(ctx context.Context, basics []*target.Query, targetsOf func(*target.Query) *target.Repositories) error {
	var jobs []*contentsJob
	known := map[contentsKey]*contentsJob{}
	for _, b := range basics {
		if !b.Documents && len(b.FileTests) == 0 || targetsOf(b).IsLazy() {
			continue
		}
		for t := range targetsOf(b).All() {
			repo := t.Stored
			if !repo.Indexed() {
				continue
			}
			for _, rev := range t.Revisions {
				if rev.Branch >= 0 || rev.Files != nil {
					continue
				}
				key := contentsKey{t.Key(rev), fmt.Sprint(repo.Shards), b.Index == query.No}
				j := known[key]
				if j == nil {
					j = &contentsJob{key: key, repo: repo}
					known[key] = j
					jobs = append(jobs, j)
				}
				j.revs = append(j.revs, rev)
			}
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	err := s.doContents(ctx, jobs)
	for _, b := range basics {
		if err == nil && (b.Documents || len(b.FileTests) > 0) && !targetsOf(b).IsLazy() {
			targetsOf(b).KeepRevisions(func(t *target.Repository, rev *target.Revision) bool {
				return !t.Stored.Indexed() || rev.Branch >= 0 || rev.Files != nil
			})
		}
	}
	return err
}

// contentsJob is one commit to list.
type contentsJob struct {
	key      contentsKey
	repo     *store.Repository
	revs     []*target.Revision
	contents *target.Files
	err      error
}

// doContents lists commits side by side and takes them in order until they are
// too much.
func (s *Scope) doContents(ctx context.Context, jobs []*contentsJob) error {
	start := s.task.Now()
	size, left, cut := 0, maxRevisions, 0
	var unread []string
	for first := 0; first < len(jobs); first += s.task.Workers {
		group := jobs[first:min(first+s.task.Workers, len(jobs))]
		if size > maxContentsBytes || left <= 0 {
			cut += len(group)
			continue
		}
		var wg sync.WaitGroup
		for _, j := range group {
			wg.Go(func() { j.contents, j.err = s.cache.files(ctx, s.task, j) })
		}
		wg.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, j := range group {
			if size > maxContentsBytes || left <= 0 { // whatever the number of workers
				cut++
				continue
			}
			if j.err != nil && s.task.NoteUnready(j.repo, j.err) {
				s.sel.passedOver = true
				continue
			}
			if j.err != nil {
				s.task.Note("list "+j.key.Commit, s.task.Details(report.Text("repository", j.repo.Name), report.Text("error", j.err.Error()))...)
				unread = append(unread, j.repo.Name+"@"+showCommit(j))
				continue
			}
			size += j.contents.Bytes()
			left--
			for _, rev := range j.revs {
				rev.Files = j.contents
			}
		}
	}
	s.reportContents(cut, unread)
	s.task.Step("list files of revisions", start, report.Count("revisions", len(jobs)), report.Count("left out", cut), report.Count("bytes", size))
	return nil
}

func showCommit(j *contentsJob) string {
	if typed := j.revs[0].Typed; typed != "" {
		return typed
	}
	return "HEAD"
}

// reportContents records revisions that were not searched: cut are too many,
// unread cannot be listed.
func (s *Scope) reportContents(cut int, unread []string) {
	s.sel.passedOver = s.sel.passedOver || cut+len(unread) > 0
	s.task.Report.Skips().Add(report.RevisionsOverLimit(cut))
	s.task.Report.Skips().Add(report.RevisionsUnreadable(unread))
}

// files lists a commit and finds its files in the repository's shards.
func (c *Cache) files(ctx context.Context, t *task.Task, j *contentsJob) (*target.Files, error) {
	if known, ok := c.contents.Get(j.key); ok {
		return known, nil
	}
	repo, err := t.Git.Open(ctx, j.repo)
	if err != nil {
		return nil, err
	}
	release, err := t.GitSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	l := newTreeList()
	if err := l.list(ctx, repo, j.key.Commit); err != nil {
		return nil, err
	}
	out := &target.Files{In: map[uint32]*postings.Set{}}
	if !j.key.unindexed {
		if err := l.mark(t, j.repo, out.In); err != nil {
			return nil, err
		}
	}
	out.Unindexed = l.unindexed()
	c.contents.Put(j.key, out, out.Bytes())
	return out, nil
}

// treeList are the files of a commit, and which of them were found.
type treeList struct {
	files  []git.TreeEntry
	byPath map[string]int
	found  []bool
	// bytes are those of the paths.
	bytes int
}

func newTreeList() *treeList { return &treeList{byPath: map[string]int{}} }

var errTooManyFiles = errors.New("too many files")

// list reads the commit's tree. A path that stands there twice is the first.
func (l *treeList) list(ctx context.Context, repo *git.Repo, commit string) error {
	err := repo.ListTree(ctx, commit, func(e git.TreeEntry) error {
		if len(e.Path) > shard.MaxPathBytes {
			return fmt.Errorf("path of %d bytes", len(e.Path))
		}
		if _, twice := l.byPath[e.Path]; twice {
			return nil
		}
		if l.bytes += len(e.Path); len(l.files) == maxTreeFiles || l.bytes > maxTreeBytes {
			return errTooManyFiles
		}
		l.byPath[e.Path] = len(l.files)
		l.files = append(l.files, e)
		return nil
	})
	l.found = make([]bool, len(l.files))
	return err
}

// mark finds files in shards: those of live documents, and then those of dead
// ones whose text was taken in.
func (l *treeList) mark(t *task.Task, repo *store.Repository, in map[uint32]*postings.Set) error {
	type place struct {
		shard uint32
		doc   uint16
		file  int
	}
	var dead []place
	take := func(p place) {
		if in[p.shard] == nil {
			in[p.shard] = &postings.Set{}
		}
		in[p.shard].Add(p.doc)
		l.found[p.file] = true
	}
	for _, id := range repo.Shards {
		v, ok := t.Snapshot.Shard(id)
		if !ok {
			continue
		}
		docs, err := v.Documents()
		if err != nil {
			t.FailShard(id, err)
			continue // its files are read through git instead
		}
		for i := range docs.Len() {
			if docs.Repository[i] != repo.ID {
				continue
			}
			n, ok := l.byPath[docs.Path(i)]
			if !ok || l.files[n].Mode != docs.Mode[i] || !sameOID(l.files[n].OID, docs.OID(i)) {
				continue
			}
			p := place{id, uint16(i), n}
			switch {
			case v.Dead == nil || !v.Dead.Contains(uint16(i)):
				take(p)
			case docs.Reason[i] == shard.Searchable && int64(docs.FileBytes[i]) <= t.MaxTextBytes:
				dead = append(dead, p)
			}
		}
	}
	for _, p := range dead {
		if !l.found[p.file] {
			take(p)
		}
	}
	return nil
}

// sameOID compares an object id in hex with one in bytes.
func sameOID(text string, oid []byte) bool {
	var buf [64]byte
	return len(text) == 2*len(oid) && len(text) <= len(buf) && string(hex.AppendEncode(buf[:0], oid)) == text
}

// unindexed returns the files that were not found, by rank.
func (l *treeList) unindexed() []target.UnindexedFile {
	var out []target.UnindexedFile
	for i, e := range l.files {
		if !l.found[i] {
			out = append(out, target.UnindexedFile{TreeEntry: e, Quality: admit.Quality(e.Path)})
		}
	}
	slices.SortFunc(out, target.CompareFiles)
	return out
}
