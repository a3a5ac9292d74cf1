package commits

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// shardPlan is what the posting lists and columns leave of one history shard.
type shardPlan struct {
	view  shard.View
	table *shard.Commits
	docs  *shard.Documents
	// texts are the documents whose text may match, nil for all.
	texts *postings.Set
	// candidates are the commits to look at, ascending.
	candidates []uint32
	// runs are candidates in a row of one repository, by its ID and then in order.
	runs []candidateRun
	cost postings.Cost
}

// candidateRun are the candidates from first up to but not including end.
type candidateRun struct {
	repository uint32
	first, end int
}

// planCommits reads the posting lists of one history shard for q. With brute it
// reads none. A panic over a damaged shard is an error.
func planCommits(v shard.View, q *commitQuery, people map[uint32]store.People, brute bool, in *shardplan.Reader) (p *shardPlan, err error) {
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, fmt.Errorf("plan shard %d: panic: %v", v.ID, x)
		}
	}()
	p = &shardPlan{view: v}
	if p.table, err = v.Commits(); err != nil {
		return nil, err
	}
	if p.table == nil {
		return nil, fmt.Errorf("shard %d holds no commits", v.ID)
	}
	if p.docs, err = v.Documents(); err != nil {
		return nil, err
	}
	var narrowed *postings.Set // by document, nil for all
	if !brute {
		if narrowed, err = p.narrow(q, in); err != nil {
			return nil, err
		}
	}
	p.choose(q, people, narrowed)
	p.setRuns()
	return p, nil
}

// setRuns parts the candidates by repository. Those of one mostly stand together.
func (p *shardPlan) setRuns() {
	for n, i := range p.candidates {
		id := p.table.Repository[i]
		if last := len(p.runs) - 1; last >= 0 && p.runs[last].repository == id {
			p.runs[last].end = n + 1
		} else {
			p.runs = append(p.runs, candidateRun{id, n, n + 1})
		}
	}
	slices.SortFunc(p.runs, func(a, b candidateRun) int {
		return cmp.Or(cmp.Compare(a.repository, b.repository), cmp.Compare(a.first, b.first))
	})
}

// of yields the candidates of a repository, ascending.
func (p *shardPlan) of(repository uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		n, _ := slices.BinarySearchFunc(p.runs, repository, func(r candidateRun, id uint32) int { return cmp.Compare(r.repository, id) })
		for ; n < len(p.runs) && p.runs[n].repository == repository; n++ {
			for _, i := range p.candidates[p.runs[n].first:p.runs[n].end] {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// narrow returns documents such that every commit that matches has one of
// them, nil for all.
func (p *shardPlan) narrow(q *commitQuery, in *shardplan.Reader) (*postings.Set, error) {
	content, paths := in.Content(p.view), in.Paths(p.view)
	texts, err := p.texting(q, content)
	if err != nil {
		return nil, err
	}
	p.texts = texts
	var out *postings.Set
	and := func(set *postings.Set) {
		if out == nil {
			out = set
		} else {
			out.And(set)
		}
	}
	files, err := paths.Eval(q.PathExpr())
	if err != nil {
		return nil, err
	}
	switch {
	case texts != nil && q.Diff:
		// Commits without an indexed text may match as well.
		set := texts.Clone()
		p.addUnread(set)
		if !files.All {
			set.And(files.Docs)
		}
		and(set)
	case texts != nil:
		and(texts.Clone())
		if !files.All {
			out.And(p.messagesOf(files.Docs))
		}
	case !files.All && q.Diff:
		and(files.Docs.Clone())
	case !files.All:
		and(p.messagesOf(files.Docs))
	}
	for _, f := range q.Messages {
		if f.Negated {
			continue
		}
		c, err := content.Eval(f.Expr)
		if err != nil {
			return nil, err
		}
		if c.All {
			continue
		}
		set := c.Docs
		if q.Diff {
			set = p.filesOf(set)
		}
		and(set)
	}
	p.cost = postings.Cost{Lists: content.Cost.Lists + paths.Cost.Lists, Bytes: content.Cost.Bytes + paths.Cost.Bytes}
	return out, nil
}

// texting returns the documents that the patterns may match, nil for all.
func (p *shardPlan) texting(q *commitQuery, content *postings.Evaluator) (*postings.Set, error) {
	if q.Tree == nil {
		return nil, nil
	}
	bp := shardplan.Basic{}
	for _, m := range q.Atoms {
		c, err := content.Eval(m.Expr)
		if err != nil {
			return nil, err
		}
		bp.Atoms = append(bp.Atoms, shardplan.Atom{Content: c, Path: postings.Candidates{Docs: &postings.Set{}}})
	}
	return bp.Narrow(q.Tree), nil
}

// addUnread adds the files of commits whose diffs are not kept.
func (p *shardPlan) addUnread(set *postings.Set) {
	for i := range p.table.Len() {
		if p.table.State[i] != shard.CommitPaths {
			continue
		}
		for d := p.table.Message[i] + 1; d < p.table.Message[i+1]; d++ {
			set.Add(uint16(d))
		}
	}
}

// messagesOf returns the messages of the commits that some documents belong to,
// filesOf all files of the commits that some messages belong to.
func (p *shardPlan) messagesOf(docs *postings.Set) *postings.Set {
	out := &postings.Set{}
	for d := range docs.All() {
		out.Add(uint16(p.table.Message[p.table.Of(d)]))
	}
	return out
}

func (p *shardPlan) filesOf(docs *postings.Set) *postings.Set {
	out := &postings.Set{}
	for d := range docs.All() {
		i := p.table.Of(d)
		if p.table.Message[i] != uint32(d) {
			continue
		}
		for f := p.table.Message[i] + 1; f < p.table.Message[i+1]; f++ {
			out.Add(uint16(f))
		}
	}
	return out
}

// choose lists the commits that are alive, in a chosen repository, and have the
// people and dates that q asks for.
func (p *shardPlan) choose(q *commitQuery, people map[uint32]store.People, narrowed *postings.Set) {
	t := p.table
	authors, committers := newPeopleTest(t, people, q.Authors), newPeopleTest(t, people, q.Committers)
	wanted := func(i int) bool {
		id := t.Repository[i]
		return q.Repositories.Has(id) && (p.view.Dead == nil || !p.view.Dead.Contains(uint16(t.Message[i]))) &&
			q.Dated(t.CommitterSeconds[i]) && authors.holds(id, t.Author[i]) && committers.holds(id, t.Committer[i]) &&
			(!q.Diff || t.State[i] != shard.CommitMerge)
	}
	if narrowed == nil {
		for i := range t.Len() {
			if wanted(i) {
				p.candidates = append(p.candidates, uint32(i))
			}
		}
		return
	}
	last, i := -1, 0
	for d := range narrowed.All() {
		i = t.OfNext(d, i)
		// In a search of messages those only count.
		if i == last || !q.Diff && t.Message[i] != uint32(d) {
			continue
		}
		last = i
		if wanted(i) {
			p.candidates = append(p.candidates, uint32(i))
		}
	}
}

// peopleTest tests each person of a shard once.
type peopleTest struct {
	filters []compile.PersonFilter
	table   *shard.Commits
	people  map[uint32]store.People
	// known holds the answers by repository and person: 0 for not asked yet, 1
	// for no, 2 for yes. Repositories without a mailmap have those of number 0.
	known map[uint32][]byte
}

func newPeopleTest(t *shard.Commits, people map[uint32]store.People, filters []compile.PersonFilter) *peopleTest {
	return &peopleTest{filters, t, people, map[uint32][]byte{}}
}

func (p *peopleTest) holds(repository, person uint32) bool {
	if len(p.filters) == 0 {
		return true
	}
	if p.people[repository] == nil {
		repository = 0
	}
	known := p.known[repository]
	if known == nil {
		known = make([]byte, len(p.table.People))
		p.known[repository] = known
	}
	if known[person] == 0 {
		known[person] = 1
		if compile.PersonHolds(p.filters, p.people[repository].Is(p.table.People[person])) {
			known[person] = 2
		}
	}
	return known[person] == 2
}
