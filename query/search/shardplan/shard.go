package shardplan

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/shard"
)

// Plan has the candidates of one shard for some basic queries, as the posting lists leave
// them.
type Plan struct {
	View shard.View
	// Docs is the document table. It may be nil if there are no candidates: it is read
	// only when lists leave some.
	Docs   *shard.Documents
	Basics []Basic
	// Files, in a shard of files read through git, are those of each commit.
	Files map[*target.Files]*postings.Set
	// queries are those of Basics, live is what target.Live returns, and byRevision has, for
	// each of them, the documents of its repositories with candidates by revision, or nil if
	// that is computed: a lazy set may have tens of thousands of them in a shard. All are nil if
	// there are no candidates.
	queries    []*target.Query
	live       target.ByRevision
	byRevision []map[uint32]target.ByRevision
	// Candidates are the documents to verify, ascending.
	Candidates []uint16
	Cost       postings.Cost
	// held is about how many bytes the sets of basics take.
	held int

	// ProseWords says which of Docs.Words are languages of prose, if there are
	// candidates.
	ProseWords []bool
}

// Basic is the part of a plan that belongs to one basic query.
type Basic struct {
	// Docs is nil when nothing was ruled out.
	Docs  *postings.Set
	Atoms []Atom
	// symbolCost counts the lists of symbols that were read.
	symbolCost postings.Cost
}

// Atom is where an atom may match. A field that is not searched for the
// atom has an empty set. In a search of symbols, Content is where their names match.
type Atom struct {
	Content, Path postings.Candidates
	// Finder looks for the atom in the text of candidates, if the plan has some.
	Finder *match.Finder
}

// Recovered, when it is deferred, makes a panic the error: one over a damaged shard must
// not end other searches.
func Recovered(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("panic: %v", x)
	}
}

// New plans one shard by the posting lists that in reads. With brute set, and for a
// shard in memory, it reads no lists and rules no document out; files are then
// those of each commit. Beyond limit bytes atoms forget where they may match. A
// panic over a damaged shard is an error, and so is the end of ctx.
func New(ctx context.Context, v shard.View, in *Reader, files map[*target.Files]*postings.Set, queries []*target.Query, limit int, brute bool) (p *Plan, err error) {
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, fmt.Errorf("plan shard %d: panic: %v", v.ID, x)
		}
	}()
	if err := v.Ready(); err != nil {
		return nil, err // whatever its lists say
	}
	brute = brute || v.InMemory()
	p = &Plan{View: v, Files: files, Basics: make([]Basic, len(queries))}
	content, path := in.Content(v), in.Paths(v)
	all := &postings.Set{}
	for i, b := range queries {
		bp := &p.Basics[i]
		if b.InSymbols {
			if err := bp.readSymbols(ctx, v, in, b, content, path, brute); err != nil {
				return nil, err
			}
		} else if !brute {
			if err := bp.read(ctx, v, in, b, content, path, limit-p.held); err != nil {
				return nil, err
			}
		} else {
			bp.readNothing(b)
		}
		p.limitSize(bp, limit)
		if bp.Docs == nil {
			all = nil
		} else if all != nil {
			all.Or(bp.Docs)
		}
	}
	if v.Loaded() || all == nil || all.Len() > 0 {
		if p.Docs, err = v.Documents(); err != nil {
			return nil, err
		}
	}
	if p.choose(queries, all); len(p.Candidates) > 0 {
		p.ProseWords = proseOf(p.Docs.Words)
		p.makeFinders(queries)
	}
	p.AddCost(content.Cost)
	p.AddCost(path.Cost)
	for i := range p.Basics {
		p.AddCost(p.Basics[i].symbolCost)
	}
	return p, nil
}

// makeFinders makes what looks for the atoms in the text of candidates.
func (p *Plan) makeFinders(queries []*target.Query) {
	for i, b := range queries {
		atoms := p.Basics[i].Atoms
		for j := range atoms {
			atoms[j].Finder = b.Atoms[j].Finder(atoms[j].Content.Anchor)
		}
	}
}

// Fail records that documents of the plan could not be searched: of its shard, or of
// its repository if they were read through git.
func (p *Plan) Fail(t *task.Task, err error) {
	if !p.View.InMemory() {
		t.FailShard(p.View.ID, err)
		return
	}
	for _, run := range p.Docs.Runs() {
		if repo := t.Snapshot.RepositoryByID(run.Repository); repo != nil {
			t.FailRepository(repo, err)
		}
	}
}

// AddCost adds to the count of lists that were read.
func (p *Plan) AddCost(c postings.Cost) {
	p.Cost.Lists += c.Lists
	p.Cost.Bytes += c.Bytes
}

// read evaluates the expressions of b's atoms and path filters. Beyond limit bytes an
// atom forgets where it may match once it has narrowed the documents.
func (bp *Basic) read(ctx context.Context, v shard.View, in *Reader, b *target.Query, content, path *postings.Evaluator, limit int) error {
	defer func() { content.Within, path.Within = nil, nil }()
	pathDocs, err := path.Eval(b.PathExpr())
	if err != nil {
		return err
	}
	var left *postings.Set // nil for all documents
	if !pathDocs.All {
		bp.Docs, left = pathDocs.Docs, pathDocs.Docs
	}
	none := postings.Candidates{Docs: &postings.Set{}}
	bp.Atoms = make([]Atom, len(b.Atoms))
	for _, next := range b.Order {
		if err := in.Yield(ctx); err != nil {
			return err
		}
		a, ap := b.Atoms[next.Atom], &bp.Atoms[next.Atom]
		*ap = Atom{Content: none, Path: none}
		if left != nil && left.Len() == 0 {
			continue
		}
		if content.Within, path.Within, err = within(v, left); err != nil {
			return err
		}
		if b.InContent || a.Silent {
			if ap.Content, err = content.Eval(a.Expr); err != nil {
				return err
			}
		}
		if b.InPath && !a.ContentOnly {
			if ap.Path, err = path.Eval(a.Expr); err != nil {
				return err
			}
		}
		if set := bp.Narrow(compile.Leaf(next.Atom)); next.Needed && set != nil {
			if left != nil {
				set.And(left)
			}
			left = set
		}
		if limit -= ap.bytes(); limit < 0 {
			ap.forget()
		}
	}
	bp.Docs = left // what is needed may be forgotten
	bp.confine(b)
	return nil
}

// within returns the blocks and the documents to which lists are confined when
// some documents are left, nil when these are so many that it does not pay.
func within(v shard.View, left *postings.Set) (blocks, documents *postings.Set, err error) {
	const worthConfining = 4
	if left == nil || worthConfining*left.Len() > v.Header.Documents {
		return nil, nil, nil
	}
	docs, err := v.Documents()
	if err != nil {
		return nil, nil, err
	}
	return BlocksOf(docs, left.Append(nil)), left, nil
}

// BlocksOf returns the blocks of some documents, which are ascending.
func BlocksOf(docs *shard.Documents, some []uint16) *postings.Set {
	blocks := &postings.Set{}
	for _, doc := range some {
		blocks.AddRange(int(docs.FirstBlock[doc]), int(docs.FirstBlock[doc+1]))
	}
	return blocks
}

// confine leaves the documents for which b's tree may hold.
func (bp *Basic) confine(b *target.Query) {
	if b.Tree == nil || bp.Docs != nil && bp.Docs.Len() == 0 {
		return
	}
	if set := bp.Narrow(b.Tree); set != nil {
		if bp.Docs == nil {
			bp.Docs = set
		} else {
			bp.Docs.And(set)
		}
	}
}

func (bp *Basic) readNothing(b *target.Query) {
	for _, a := range b.Atoms {
		ap := Atom{Content: postings.Candidates{Docs: &postings.Set{}}, Path: postings.Candidates{Docs: &postings.Set{}}}
		ap.Content.All = b.InContent || a.Silent
		ap.Path.All = b.InPath && !a.ContentOnly
		bp.Atoms = append(bp.Atoms, ap)
	}
}

// Narrow returns the documents for which t may hold, nil for all. The set belongs
// to the caller.
func (bp *Basic) Narrow(t compile.Tree) *postings.Set {
	switch t := t.(type) {
	case compile.Constant:
		if t {
			return nil
		}
		return &postings.Set{}
	case compile.Leaf:
		a := &bp.Atoms[t]
		if a.Content.All || a.Path.All {
			return nil
		}
		set := a.Content.Docs.Clone()
		set.Or(a.Path.Docs)
		return set
	case *compile.And:
		var out *postings.Set
		for _, k := range t.Kids {
			switch set := bp.Narrow(k); {
			case set == nil:
			case out == nil:
				out = set
			default:
				out.And(set)
			}
		}
		return out
	case *compile.Or:
		out := &postings.Set{}
		for _, k := range t.Kids {
			set := bp.Narrow(k)
			if set == nil {
				return nil
			}
			out.Or(set)
		}
		return out
	}
	return nil // a negation rules nothing out
}

// choose lists the candidates that a revision of a chosen repository holds.
func (p *Plan) choose(queries []*target.Query, all *postings.Set) {
	if all == nil {
		all = postings.Full(p.View.Header.Documents)
	}
	if all.Len() == 0 {
		return
	}
	if chosen := p.chosenDocuments(queries); chosen != nil {
		all.And(chosen)
	}
	p.queries, p.live, p.byRevision = queries, target.Live(p.View), make([]map[uint32]target.ByRevision, len(queries))
	for k, b := range queries {
		if p.Files != nil || !b.Repositories.IsLazy() {
			p.byRevision[k] = map[uint32]target.ByRevision{}
		}
	}
	p.Candidates = make([]uint16, 0, all.Len())
	at := make([]target.ByRevision, len(queries))
	for next, ok := all.Next(0); ok; {
		run := p.Docs.RunOf(next)
		before := len(p.Candidates)
		p.Candidates = all.AppendRange(p.Candidates, next, run.End)
		next, ok = all.Next(run.End)
		for k := range queries {
			at[k] = p.hold(k, run.Repository)
		}
		if slices.ContainsFunc(at, target.ByRevision.HoldsAll) {
			continue
		}
		held := slices.DeleteFunc(p.Candidates[before:], func(i uint16) bool {
			return !slices.ContainsFunc(at, func(r target.ByRevision) bool { return r.Holds(i) })
		})
		p.Candidates = p.Candidates[:before+len(held)]
	}
}

// fewOfRuns is how many times as many runs a shard has as repositories are chosen for
// their runs to be looked up.
const fewOfRuns = 8

// chosenDocuments returns the documents of the repositories that are searched, nil if
// these are not few beside those of the shard.
func (p *Plan) chosenDocuments(queries []*target.Query) *postings.Set {
	n := 0
	for _, b := range queries {
		if n += b.Repositories.Len(); n*fewOfRuns > len(p.Docs.Runs()) {
			return nil
		}
	}
	out := &postings.Set{}
	for _, b := range queries {
		for id := range b.Repositories.IDs().All() {
			for run := range p.Docs.RunsOf(id) {
				out.AddRange(run.First, run.End)
			}
		}
	}
	return out
}

// hold is Held, and keeps what is not computed again.
func (p *Plan) hold(k int, repository uint32) target.ByRevision {
	known, ok := p.byRevision[k][repository]
	if !ok {
		known = p.queries[k].Repositories.DocumentsIn(p.View, repository, p.Files, p.live)
		if p.byRevision[k] != nil {
			p.byRevision[k][repository] = known
		}
	}
	return known
}

// Held returns which documents each revision of a repository with candidates holds, for
// basic query k.
func (p *Plan) Held(k int, repository uint32) target.ByRevision {
	if p.byRevision[k] == nil {
		return p.queries[k].Repositories.DocumentsIn(p.View, repository, p.Files, p.live)
	}
	return p.byRevision[k][repository]
}

// pathWeight is what a document counts whose text is not read.
const pathWeight = 1 << 10

// Weight estimates the bytes to verify for document i.
func (p *Plan) Weight(i uint16) int {
	if !p.Reads(i) {
		return pathWeight
	}
	size := int(p.Docs.TextBytes[i])
	if size <= postings.BlockBytes {
		return size
	}
	// One atom with blocks is the usual case; others read whole documents.
	if len(p.Basics) == 1 && len(p.Basics[0].Atoms) == 1 {
		if c := &p.Basics[0].Atoms[0].Content; c.Blocks != nil {
			return postings.BlockBytes
		}
	}
	return size
}

// Reads reports whether an atom may be looked for in the text of document i.
func (p *Plan) Reads(i uint16) bool {
	for b := range p.Basics {
		for a := range p.Basics[b].Atoms {
			if c := &p.Basics[b].Atoms[a].Content; c.All || c.Docs.Contains(i) {
				return true
			}
		}
	}
	return false
}

// Groups returns the groups of symbols that may have l in a name.
func Groups(symbols *postings.Evaluator, l *postings.Literal) (*postings.Set, error) {
	c, err := symbols.Eval(l)
	if err != nil || c.Blocks == nil {
		return &postings.Set{}, err
	}
	return c.Blocks, nil
}

// IsUnindexed reports whether the lists know nothing of the text of document i.
func (p *Plan) IsUnindexed(i uint16) bool {
	scan := p.View.ScanAlways()
	return scan != nil && scan.Contains(uint16(p.Docs.FirstBlock[i]))
}

// IsProse reports whether document i is text for people, or settings.
func (p *Plan) IsProse(i uint16) bool { return p.ProseWords[p.Docs.Language[i]] }

// settings are languages of configuration, which people rarely search for.
var settings = map[string]bool{"Makefile": true, "CMake": true, "YAML": true, "JSON": true, "INI": true}

// proseOf reports which words of a shard name languages of prose or settings.
func proseOf(words []string) []bool {
	out := make([]bool, len(words))
	for i, w := range words {
		out[i] = lang.IsProse(w) || settings[w]
	}
	return out
}

// countBlocks counts the candidate blocks of a plan, for traces.
func (p *Plan) countBlocks() int {
	n := 0
	for _, b := range p.Basics {
		for _, a := range b.Atoms {
			if a.Content.Blocks != nil {
				n += a.Content.Blocks.Len()
			} else if a.Content.All {
				n += p.View.Header.Blocks
			} else if a.Content.Docs.Len() > 0 {
				n += blocksOfDocs(p.Docs, a.Content.Docs)
			}
		}
	}
	return n
}

func blocksOfDocs(docs *shard.Documents, set *postings.Set) int {
	n := 0
	for d := range set.All() {
		n += int(docs.FirstBlock[d+1] - docs.FirstBlock[d])
	}
	return n
}

// Step returns the step of a plan that began at start, for the trace; an empty name
// stands for that of the shard.
func (p *Plan) Step(t *task.Task, name string, start time.Time) report.Step {
	shard, documents, candidates, blocks, cost := p.View.ID, p.View.Header.Documents, len(p.Candidates), p.countBlocks(), p.Cost
	hidden := t.HidesDetails()
	return report.Step{Start: start.Sub(t.Start), Took: t.Now().Sub(start), Later: func() (string, []report.Field) {
		if name == "" {
			name = fmt.Sprintf("plan shard %d", shard)
		}
		if hidden {
			return name, nil
		}
		return name, []report.Field{
			report.Count("documents", documents), report.Count("candidates", candidates),
			report.Count("blocks", blocks), report.Count("lists", cost.Lists), report.Count("list bytes", cost.Bytes),
		}
	}}
}
