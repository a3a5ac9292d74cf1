package scope

import (
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/owners"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/documents"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/query/search/verify"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// ownersFiles are where a repository may keep its CODEOWNERS, the first that is
// there being the one that counts; ownersPath finds them in the path lists.
var ownersFiles = []string{"CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS"}

const ownersPath = `^(?:\.github/|\.gitlab/|docs/)?CODEOWNERS$`

// readOwners gives the basic queries that ask for owners the rules that their
// targets have at each revision. One whose rules cannot be read is removed from
// the targets: nothing true can be said of its documents. It reports whether owners
// were asked for and no repository names any.
func readOwners(ctx context.Context, t *task.Task, queries []*target.Query) (none bool, err error) {
	var sets []*target.Repositories
	for _, b := range queries {
		if b.NeedsOwners() {
			sets = append(sets, b.Repositories)
		}
	}
	targets := target.Join(sets)
	if targets.Len() == 0 {
		return false, nil
	}
	rules, unreadable, err := ownerRules(ctx, t, targets)
	if err != nil {
		return false, err
	}
	for _, b := range queries {
		if !b.NeedsOwners() {
			continue
		}
		b.OwnerRules = rules
		b.Repositories.KeepRevisions(func(repo *target.Repository, rev *target.Revision) bool { return !unreadable[repo.Key(rev)] })
	}
	return len(rules)+len(unreadable) == 0, nil
}

// ownerRules reads the rules of the targets that have some.
func ownerRules(ctx context.Context, t *task.Task, targets *target.Repositories) (rules map[target.Key]*owners.Rules, unreadable map[target.Key]bool, err error) {
	start := t.Now()
	m, err := match.Compile(ownersPath, true, true)
	if err != nil {
		return nil, nil, err
	}
	b := &target.Query{Query: &compile.Query{CaseSensitive: true, InContent: true, Documents: true, Paths: []compile.PathFilter{{Matcher: m}}}, Repositories: targets}
	var mu sync.Mutex // guards what follows
	rules, unreadable = map[target.Key]*owners.Rules{}, map[target.Key]bool{}
	rank := map[target.Key]int{}
	_, err = documents.Scan(ctx, t, b, verify.Scan{
		Done: func(target.Key) bool { return false },
		Found: func(keys []target.Key, v *verify.Verifier, i uint16) error {
			n := slices.Index(ownersFiles, v.Plan.Docs.Path(int(i)))
			if n < 0 || v.Plan.Docs.Reason[i] != shard.Searchable {
				return nil
			}
			text, err := v.Text()
			if err != nil {
				return err
			}
			parsed := owners.Parse(string(text))
			mu.Lock()
			defer mu.Unlock()
			for _, key := range keys {
				if old, ok := rank[key]; !ok || n < old {
					rules[key], rank[key] = parsed, n
				}
			}
			return nil
		},
		Unreadable: func(src target.Source) {
			mu.Lock()
			defer mu.Unlock()
			for key := range target.KeysIn(t.Snapshot, targets, src) {
				unreadable[key] = true
			}
		},
	})
	if err == nil {
		err = uploadedRules(t.Snapshot, targets, rules, unreadable)
	}
	t.Step("read owners", start, report.Count("repositories", targets.Len()), report.Count("with rules", len(rules)))
	return rules, unreadable, err
}

// uploadedRules puts the rules of files that were uploaded in the place of those that
// were read.
func uploadedRules(sn *store.Snapshot, targets *target.Repositories, rules map[target.Key]*owners.Rules, unreadable map[target.Key]bool) error {
	return sn.EachOwnersFile(func(repository uint32, read func() (*store.OwnersFile, error)) error {
		t := targets.Get(repository)
		if t == nil {
			return nil
		}
		f, err := read()
		if err != nil {
			return err
		}
		parsed := owners.Parse(f.Text)
		for _, rev := range t.Revisions {
			rules[t.Key(rev)] = parsed
			delete(unreadable, t.Key(rev))
		}
		return nil
	})
}
