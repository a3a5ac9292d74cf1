package search

import (
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/owners"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// ownedFilter is a file:has.owner filter; without a name it asks for any
// owner.
type ownedFilter struct {
	name    string
	negated bool
}

// holds tests the owners of a document.
func (f ownedFilter) holds(of []string) bool {
	owned := slices.ContainsFunc(of, func(o string) bool { return f.name == "" || owners.Is(o, f.name) })
	return owned != f.negated
}

// needsOwners reports whether b tests or selects owners.
func (b *basic) needsOwners() bool {
	return len(b.owned) > 0 || slices.Equal(b.sel, []string{"file", "owners"})
}

// ownersFiles are where a repository may keep its CODEOWNERS, the first that is
// there being the one that counts; ownersPath finds them in the path lists.
var ownersFiles = []string{"CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS"}

const ownersPath = `^(?:\.github/|\.gitlab/|docs/)?CODEOWNERS$`

// readOwners gives the basic queries that ask for owners the rules that their
// targets have at each revision. One whose rules cannot be read is taken from
// the targets: nothing true can be said of its documents.
func (r *run) readOwners(ctx context.Context) error {
	targets := map[uint32]*target{}
	for _, b := range r.basics {
		if b.needsOwners() {
			for id, t := range b.targets {
				targets[id] = t.with(targets[id])
			}
		}
	}
	if len(targets) == 0 {
		return nil
	}
	rules, unreadable, err := r.ownerRules(ctx, targets)
	if err != nil {
		return err
	}
	for _, b := range r.basics {
		if !b.needsOwners() {
			continue
		}
		b.rules = rules
		keepRevisions(b.targets, func(t *target, rev *revision) bool { return !unreadable[t.key(rev)] })
	}
	r.noOwners = len(rules)+len(unreadable) == 0
	return nil
}

// ownerRules reads the rules of the targets that have some.
func (r *run) ownerRules(ctx context.Context, targets map[uint32]*target) (rules map[revisionKey]*owners.Rules, unreadable map[revisionKey]bool, err error) {
	start := r.set.Now()
	m, err := match.Compile(ownersPath, true, true)
	if err != nil {
		return nil, nil, err
	}
	b := &basic{caseSensitive: true, content: true, docs: true, targets: targets, paths: []pathFilter{{Matcher: m}}}
	var mu sync.Mutex // guards what follows
	rules, unreadable = map[revisionKey]*owners.Rules{}, map[revisionKey]bool{}
	rank := map[revisionKey]int{}
	_, err = r.scan(ctx, b, scan{
		done: func(revisionKey) bool { return false },
		found: func(keys []revisionKey, v *verifier, i uint16) error {
			n := slices.Index(ownersFiles, v.plan.docs.Path(int(i)))
			if n < 0 || v.plan.docs.Reason[i] != store.Searchable {
				return nil
			}
			text, err := v.doc.All()
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
		unreadable: func(src source) {
			mu.Lock()
			defer mu.Unlock()
			for key := range keysIn(targets, src) {
				unreadable[key] = true
			}
		},
	})
	r.o.Trace.Add(report.Step{Name: "read owners", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: []report.Field{
		report.Count("repositories", len(targets)), report.Count("with rules", len(rules)),
	}})
	return rules, unreadable, err
}

// ownersHold tests the owners of a document at a revision.
func (b *basic) ownersHold(at revisionKey, path string) bool {
	if len(b.owned) == 0 {
		return true
	}
	var of []string
	if rules := b.rules[at]; rules != nil {
		of = rules.Owners(path)
	}
	return !slices.ContainsFunc(b.owned, func(f ownedFilter) bool { return !f.holds(of) })
}

// unownedAlert says that owners were asked for where there are none; nil if
// that is not so.
func (r *run) unownedAlert() *query.Alert {
	tested := slices.ContainsFunc(r.basics, func(b *basic) bool { return len(b.owned) > 0 })
	a := &query.Alert{Kind: "unowned-results", Title: "Some results have no owners"}
	switch {
	case r.noOwners && (tested || r.out.unowned):
		a.Description = "None of the repositories searched has a CODEOWNERS file, so nothing in them is owned. "
	case r.out.unowned:
		a.Description = "Some of the files found belong to nobody: their repository has no CODEOWNERS file, or none that names them. "
	default:
		return nil
	}
	a.Description += "It stands at the root, or in `.github`, `.gitlab` or `docs`."
	return a
}
