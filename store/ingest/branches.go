package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/admit"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// branches returns the branches to index, the default branch first and the
// others that match the repository's globs behind it, by name, and how many
// more there would be. A repository without commits has none.
func (j *syncJob) branches(ctx context.Context, repo *git.Repo) (out []store.Branch, leftOut int32, err error) {
	first, err := j.defaultBranch(ctx, repo)
	if errors.Is(err, git.ErrEmpty) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	out = []store.Branch{{Name: first.Name, Commit: first.Commit}}
	refs, leftOut, err := j.chosenRefs(ctx, repo, first.Name)
	if err != nil {
		return nil, 0, err
	}
	commits, err := repo.Commits(ctx, refs)
	if err != nil {
		return nil, 0, err
	}
	for i, ref := range refs {
		name := strings.TrimPrefix(ref, headsPrefix)
		if commits[i] == "" {
			j.leaveOut(name, errors.New("its commit cannot be read; run git fsck there"))
			continue
		}
		out = append(out, store.Branch{Name: name, Commit: commits[i]})
	}
	return out, leftOut, nil
}

// defaultBranch returns what git.Repo.DefaultBranch does, without a process where
// that can be done. Then nothing is known of the commit yet: listing its tree shows
// whether it can be read.
func (j *syncJob) defaultBranch(ctx context.Context, repo *git.Repo) (git.Branch, error) {
	if h, ok := git.ReadHeads(repo.Dir(), false); ok && h.Default.Commit != "" {
		return h.Default, nil
	}
	return repo.DefaultBranch(ctx)
}

// leaveOut records why a branch is not indexed. The others are.
func (j *syncJob) leaveOut(branch string, why error) {
	j.unread = append(j.unread, fmt.Errorf("branch %s is left out: %w", branch, why))
}

// branchError is a branch whose tree cannot be listed.
type branchError struct {
	number int
	err    error
}

func (e *branchError) Error() string { return e.err.Error() }

// Unwrap returns the error of git.
func (e *branchError) Unwrap() error { return e.err }

const headsPrefix = "refs/heads/"

// chosenRefs is chooseRefs of the repository's branches.
func (j *syncJob) chosenRefs(ctx context.Context, repo *git.Repo, defaultBranch string) (refs []string, leftOut int32, err error) {
	if len(j.next.BranchGlobs) == 0 {
		return nil, 0, nil
	}
	if refs, err = repo.Refs(ctx, headsPrefix); err != nil {
		return nil, 0, err
	}
	refs, leftOut = chooseRefs(refs, defaultBranch, j.next.BranchGlobs)
	return refs, leftOut, nil
}

// chooseRefs returns the branches that match the globs, except the default one,
// and how many more there would be. refs are sorted, and belong to it afterwards.
func chooseRefs(refs []string, defaultBranch string, globs []string) (chosen []string, leftOut int32) {
	chosen = slices.DeleteFunc(refs, func(ref string) bool {
		return ref == headsPrefix+defaultBranch || !slices.ContainsFunc(globs, func(glob string) bool {
			return git.MatchRef(headsPrefix+strings.TrimPrefix(glob, headsPrefix), ref)
		})
	})
	if most := store.MaxBranches - 1; len(chosen) > most {
		return chosen[:most], int32(len(chosen) - most)
	}
	return chosen, 0
}

// sameCommits reports whether two lists of branches hold the same documents.
func sameCommits(a, b []store.Branch) bool {
	return slices.EqualFunc(a, b, func(a, b store.Branch) bool { return a.Commit == b.Commit })
}

// listing is what the trees of some branches hold, put together.
type listing struct {
	live liveSet
	// items are the documents to be written.
	items []item
	// known finds an item again; nil for a branch alone, which has each path once.
	known map[fileKey]int
	// small says that it ends with errNotSmall when there are too many items for a
	// group, and sized that git is asked for the sizes of files, as it is when nearly all
	// of them will be read.
	small, sized bool
}

// list lists the trees of branches. keep says that unchanged documents may
// stay. A tree made by hand may name a path twice; the first stays.
func (l *listing) list(ctx context.Context, repo *git.Repo, branches []store.Branch, keep bool) error {
	if len(branches) > 1 {
		l.known = map[fileKey]int{}
	}
	listed := map[string]bool{}
	seen := map[string]struct{}{}
	for number, b := range branches {
		if listed[b.Commit] {
			continue
		}
		listed[b.Commit] = true
		held := uint64(0)
		for n, o := range branches {
			if o.Commit == b.Commit {
				held |= 1 << n
			}
		}
		clear(seen)
		pathBytes := 0
		list := repo.ListTree
		if l.sized {
			list = repo.ListTreeSizes
		}
		err := list(ctx, b.Commit, func(e git.TreeEntry) error {
			if len(e.Path) > shard.MaxPathBytes {
				return fmt.Errorf("path of %d bytes, %.40q...: the limit is %d", len(e.Path), e.Path, shard.MaxPathBytes)
			}
			if _, twice := seen[e.Path]; twice {
				return nil
			}
			seen[e.Path] = struct{}{}
			if pathBytes += len(e.Path); pathBytes > maxPathBytes || len(seen) > maxFiles {
				return fmt.Errorf("a tree of more than %d files or %d MiB of paths is not indexed", maxFiles, maxPathBytes>>20)
			}
			size := int64(-1)
			if l.sized {
				size = e.Size
			}
			l.add(fileKey{e.Path, e.OID, e.Mode}, size, held, keep)
			if l.small && len(l.items) > mostSmallFiles {
				return errNotSmall
			}
			return nil
		})
		if err != nil {
			return &branchError{number, err}
		}
	}
	return nil
}

// The limits of one branch. Without them a tree of a few hundred bytes that
// names another ten times, which names the next ten times, and so on, would
// fill the memory.
const (
	maxFiles     = 1_000_000
	maxPathBytes = 128 << 20
)

func (l *listing) add(key fileKey, size int64, held uint64, keep bool) {
	if old := l.live[key]; old != nil && keep {
		old.held |= held
		return
	}
	n, ok := l.known[key]
	if !ok {
		n = len(l.items)
		if l.known != nil {
			l.known[key] = n
		}
		l.items = append(l.items, item{fileKey: key, size: size, quality: admit.Quality(key.path)})
	}
	l.items[n].held |= held
}

// awaySets gathers, shard by shard, which branches lack which documents of one
// repository.
type awaySets struct {
	branches int
	sets     map[uint32][]*postings.Set
}

// add records a document that some branches hold, as bits.
func (a *awaySets) add(at docRef, held uint64) {
	for n := range a.branches {
		if held&(1<<n) != 0 {
			continue
		}
		if a.sets[at.shard] == nil {
			a.sets[at.shard] = make([]*postings.Set, a.branches)
		}
		if a.sets[at.shard][n] == nil {
			a.sets[at.shard][n] = &postings.Set{}
		}
		a.sets[at.shard][n].Add(at.doc)
	}
}

// addAway adds the records of the next generation, and nil for those of sn that it
// does not have any more.
func (j *syncJob) addAway(sn *store.Snapshot, out map[store.ShardRepository][]*postings.Set) {
	sets := &awaySets{len(j.nextBranches), map[uint32][]*postings.Set{}}
	for _, d := range j.kept {
		sets.add(d.docRef, d.held)
	}
	for _, w := range j.written {
		sets.add(w.docRef, w.held)
	}
	for _, id := range j.base.Shards {
		if v, _ := sn.Shard(id); v.Away(j.base.ID) != nil {
			out[store.ShardRepository{Shard: id, Repository: j.base.ID}] = nil
		}
	}
	for shard, of := range sets.sets {
		out[store.ShardRepository{Shard: shard, Repository: j.base.ID}] = of
	}
}
