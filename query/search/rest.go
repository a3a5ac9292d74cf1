package search

import (
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// gitSource are the files of a repository that have to be read through git.
type gitSource struct {
	repo  *store.Repository
	files []sourceFile
}

// sourceFile is a file with the commits that hold it.
type sourceFile struct {
	restFile
	of []*contents
}

// restOf joins what is in no shard of the revisions of repo that a pass
// searches, or returns nil.
func restOf(repo *store.Repository, pass []*basic) *gitSource {
	var all []*contents
	for _, b := range pass {
		t := b.targets[repo.ID]
		if t == nil {
			continue
		}
		for _, rev := range t.revs {
			if rev.contents != nil && len(rev.contents.rest) > 0 && !slices.Contains(all, rev.contents) {
				all = append(all, rev.contents)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	src := &gitSource{repo: repo}
	for _, c := range all {
		of := []*contents{c}
		for _, f := range c.rest {
			src.files = append(src.files, sourceFile{f, of})
		}
	}
	if len(all) > 1 {
		slices.SortStableFunc(src.files, func(a, b sourceFile) int { return compareRest(a.restFile, b.restFile) })
		src.files = joinSame(src.files)
	}
	return src
}

// joinSame makes one of neighbours that are the same file.
func joinSame(files []sourceFile) []sourceFile {
	out := files[:0]
	for _, f := range files {
		if n := len(out); n > 0 && compareRest(out[n-1].restFile, f.restFile) == 0 {
			out[n-1].of = append(slices.Clip(out[n-1].of), f.of...)
			continue
		}
		out = append(out, f)
	}
	return out
}

// noteUnreachable records a repository that git cannot read.
func (r *run) noteUnreachable(repo *store.Repository, err error) {
	if r.noteGitBusy(repo, err) {
		return
	}
	r.opened.drop(r.store.GitDir(repo)) // it may have moved
	r.o.Trace.Add(report.Step{Name: "read " + repo.Name, Start: r.set.Now().Sub(r.start), Fields: r.work(report.Text("error", err.Error()))})
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.unreachable, repo) {
		r.unreachable = append(r.unreachable, repo)
	}
}

// noteGitBusy records a repository if err says that git had no room for it,
// which is nothing that is wrong with it.
func (r *run) noteGitBusy(repo *store.Repository, err error) bool {
	if !errors.Is(err, git.ErrBusy) {
		return false
	}
	r.o.Trace.Add(report.Step{Name: "no room for git", Start: r.set.Now().Sub(r.start), Fields: r.work(report.Text("repository", repo.Name), report.Text("error", err.Error()))})
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.gitBusy, repo) {
		r.gitBusy = append(r.gitBusy, repo)
	}
	return true
}

// unreadFile is a file that git could not read.
type unreadFile struct {
	repository uint32
	path, oid  string
}

func (r *run) noteUnreadFile(f unreadFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unreadFiles == nil {
		r.unreadFiles = map[unreadFile]struct{}{}
	}
	r.unreadFiles[f] = struct{}{}
}

// mayMatch judges a file by its path, before its text is read.
func (b *basic) mayMatch(repository uint32, f sourceFile) bool {
	t := b.targets[repository]
	if t == nil || b.symbols {
		return false
	}
	held := slices.ContainsFunc(t.revs, func(rev *revision) bool {
		return rev.contents != nil && slices.Contains(f.of, rev.contents)
	})
	if !held {
		return false
	}
	for n := range b.paths {
		if !b.paths[n].holds(f.Path) {
			return false
		}
	}
	return b.tree == nil || mayHold(b.tree, func(n int) truth {
		a := b.atoms[n]
		switch _, found := a.Short(nil, f.Path); {
		case found && b.path && !a.contentOnly:
			return yes
		case b.content || a.silent:
			return perhaps
		}
		return no
	})
}

// reportUnread reports what git could not read of revisions.
func (r *run) reportUnread() {
	r.o.Report.Gaps().GitBusy(namesByID(r.gitBusy))
	r.o.Report.Gaps().Unreachable(namesByID(r.unreachable))
	r.o.Report.Gaps().ObjectsMissing(len(r.unreadFiles))
}
