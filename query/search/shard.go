package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// shardPlan is what the posting lists leave of one shard for one pass.
type shardPlan struct {
	view   store.View
	docs   *store.Documents
	basics []basicPlan
	// files, in a shard of files read through git, are those of each commit.
	files map[*contents]*postings.Set
	// reach is, for each basic query, that of its targets with candidates.
	reach []map[uint32]reach
	// candidates are the documents to verify, ascending.
	candidates []uint16
	cost       postings.Cost
	// held is about how many bytes the sets of basics take.
	held int

	// symbols evaluates expressions on names, which it does for names: the
	// groups of symbols that may have one called so. It is nil when the shard has no
	// symbols, or they were not asked for; what a round found before is in names
	// all the same.
	symbols *postings.Evaluator
	names   map[string]*postings.Set
	// proseWords tells for docs.Words which are languages of prose, if there are
	// candidates.
	proseWords []bool
	// definitions are those of the query's names, of documents that were looked
	// into, and heads the documents that go first.
	definitions map[uint16][]definition
	heads       *postings.Set
	// find, if not nil, finds definitions.
	find func()
	// namesRead says that all of names was read, and namesErr why it was not.
	namesRead bool
	namesErr  error
}

// defined returns the definitions of document i, which matches.
func (p *shardPlan) defined(i uint16) []definition {
	if p.find != nil {
		p.find()
	}
	return p.definitions[i]
}

// basicPlan is the share of one basic query.
type basicPlan struct {
	// docs is nil when nothing was ruled out.
	docs  *postings.Set
	atoms []atomPlan
	// symbolCost is what was read of symbol lists.
	symbolCost postings.Cost
	// phrase is where the phrase may stand; nil is unknown. phraseAt says more.
	phrase   *postings.Set
	phraseAt postings.Candidates
}

// atomPlan is where an atom may match. A field that is not searched for the
// atom has an empty set. In a search of symbols, content stands for their names.
type atomPlan struct {
	content, path postings.Candidates
	// finder looks for the atom in the text of candidates.
	finder *match.Finder
}

// identity maps a number to itself: in path lists a block is a document.
var identity = func() []uint16 {
	out := make([]uint16, postings.MaxBlocks)
	for i := range out {
		out[i] = uint16(i)
	}
	return out
}()

// planShard reads the posting lists of one shard by means of in. With brute, and in a shard in
// memory, it reads none and rules nothing out; files are then those of each
// commit. What atoms hold beyond room bytes is forgotten. A panic over a damaged
// shard is an error, and so is the end of ctx.
func planShard(ctx context.Context, v store.View, in *reading, files map[*contents]*postings.Set, pass []*basic, room int, brute bool) (p *shardPlan, err error) {
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, fmt.Errorf("plan shard %d: panic: %v", v.ID, x)
		}
	}()
	docs, err := v.Documents()
	if err != nil {
		return nil, err
	}
	brute = brute || v.InMemory()
	p = &shardPlan{view: v, docs: docs, files: files, basics: make([]basicPlan, len(pass))}
	content, path := in.content(v), in.paths(v, docs)
	all := &postings.Set{}
	for i, b := range pass {
		bp := &p.basics[i]
		if b.symbols {
			if err := bp.readSymbols(ctx, v, in, b, content, path, brute); err != nil {
				return nil, err
			}
		} else if !brute {
			if err := bp.read(ctx, docs, in, b, content, path, room-p.held); err != nil {
				return nil, err
			}
		} else {
			bp.readNothing(b)
		}
		p.settle(bp, room)
		for j := range bp.atoms {
			bp.atoms[j].finder = b.atoms[j].Finder(bp.atoms[j].content.Anchor)
		}
		if bp.docs == nil {
			all = nil
		} else if all != nil {
			all.Or(bp.docs)
		}
	}
	if p.choose(pass, all); len(p.candidates) > 0 {
		p.proseWords = proseOf(docs.Words)
	}
	p.addCost(content.Cost)
	p.addCost(path.Cost)
	for i := range p.basics {
		p.addCost(p.basics[i].symbolCost)
	}
	return p, nil
}

func (p *shardPlan) addCost(c postings.Cost) {
	p.cost.Lists += c.Lists
	p.cost.Bytes += c.Bytes
}

// read evaluates the expressions of b's atoms and path filters. What atoms hold
// beyond so many bytes is forgotten once it has narrowed what is left.
func (bp *basicPlan) read(ctx context.Context, docs *store.Documents, in *reading, b *basic, content, path *postings.Evaluator, room int) error {
	defer func() { content.Within, path.Within = nil, nil }()
	pathDocs, err := path.Eval(b.pathExpr())
	if err != nil {
		return err
	}
	var left *postings.Set // nil for all documents
	if !pathDocs.All {
		bp.docs, left = pathDocs.Docs, pathDocs.Docs
	}
	none := postings.Candidates{Docs: &postings.Set{}}
	bp.atoms = make([]atomPlan, len(b.atoms))
	for _, next := range b.order {
		if err := in.yield(ctx); err != nil {
			return err
		}
		a, ap := b.atoms[next.atom], &bp.atoms[next.atom]
		*ap = atomPlan{content: none, path: none}
		if left != nil && left.Len() == 0 {
			continue
		}
		content.Within, path.Within = within(docs, left)
		if b.content || a.silent {
			if ap.content, err = content.Eval(a.Expr); err != nil {
				return err
			}
		}
		if b.path && !a.contentOnly {
			if ap.path, err = path.Eval(a.Expr); err != nil {
				return err
			}
		}
		if set := bp.narrow(leaf(next.atom)); next.needed && set != nil {
			if left != nil {
				set.And(left)
			}
			left = set
		}
		if room -= ap.bytes(); room < 0 {
			ap.forget()
		}
	}
	bp.docs = left // what is needed may be forgotten
	bp.confine(b)
	return nil
}

// within returns the blocks and the documents to which lists are confined when
// some documents are left, nil when these are so many that it does not pay.
func within(docs *store.Documents, left *postings.Set) (blocks, documents *postings.Set) {
	const worthConfining = 4
	if left == nil || worthConfining*left.Len() > docs.Len() {
		return nil, nil
	}
	return blocksOf(docs, left.Append(nil)), left
}

// blocksOf returns the blocks of some documents, which are ascending.
func blocksOf(docs *store.Documents, some []uint16) *postings.Set {
	blocks := &postings.Set{}
	for _, doc := range some {
		blocks.AddRange(int(docs.FirstBlock[doc]), int(docs.FirstBlock[doc+1]))
	}
	return blocks
}

// nextAtom is an atom in the order in which lists are read.
type nextAtom struct {
	atom int
	// needed says that no document matches without it.
	needed bool
}

// readingOrder puts the atoms that a document needs first, the rarest before the
// others: what they rule out need not be looked up for those behind.
func (b *basic) readingOrder() []nextAtom {
	order := make([]nextAtom, len(b.atoms))
	for i := range order {
		order[i].atom = i
	}
	need := func(t tree) {
		if l, ok := t.(leaf); ok {
			order[l].needed = true
		}
	}
	need(b.tree)
	if t, ok := b.tree.(*and); ok {
		for _, k := range t.kids {
			need(k)
		}
	}
	slices.SortStableFunc(order, func(x, y nextAtom) int {
		if x.needed != y.needed {
			if x.needed {
				return -1
			}
			return 1
		}
		return postings.Commonness(b.atoms[x.atom].Expr) - postings.Commonness(b.atoms[y.atom].Expr)
	})
	return order
}

// confine leaves the documents for which b's tree may hold.
func (bp *basicPlan) confine(b *basic) {
	if b.tree == nil {
		return
	}
	if set := bp.narrow(b.tree); set != nil {
		if bp.docs == nil {
			bp.docs = set
		} else {
			bp.docs.And(set)
		}
	}
}

func (bp *basicPlan) readNothing(b *basic) {
	for _, a := range b.atoms {
		ap := atomPlan{content: postings.Candidates{Docs: &postings.Set{}}, path: postings.Candidates{Docs: &postings.Set{}}}
		ap.content.All = b.content || a.silent
		ap.path.All = b.path && !a.contentOnly
		bp.atoms = append(bp.atoms, ap)
	}
}

// narrow returns the documents for which t may hold, nil for all. The set is
// the caller's.
func (bp *basicPlan) narrow(t tree) *postings.Set {
	switch t := t.(type) {
	case constant:
		if t {
			return nil
		}
		return &postings.Set{}
	case leaf:
		a := &bp.atoms[t]
		if a.content.All || a.path.All {
			return nil
		}
		set := a.content.Docs.Clone()
		set.Or(a.path.Docs)
		return set
	case *and:
		var out *postings.Set
		for _, k := range t.kids {
			switch set := bp.narrow(k); {
			case set == nil:
			case out == nil:
				out = set
			default:
				out.And(set)
			}
		}
		return out
	case *or:
		out := &postings.Set{}
		for _, k := range t.kids {
			set := bp.narrow(k)
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
func (p *shardPlan) choose(pass []*basic, all *postings.Set) {
	p.reach = make([]map[uint32]reach, len(pass))
	for k := range pass {
		p.reach[k] = map[uint32]reach{}
	}
	if all == nil {
		all = postings.Full(p.docs.Len())
	}
	p.candidates = make([]uint16, 0, all.Len())
	for next, ok := all.Next(0); ok; {
		run := p.docs.RunOf(next)
		before := len(p.candidates)
		p.candidates = all.AppendRange(p.candidates, next, run.End)
		next, ok = all.Next(run.End)
		at := p.reachesOf(pass, run.Repository)
		if slices.ContainsFunc(at, reach.everything) {
			continue
		}
		held := slices.DeleteFunc(p.candidates[before:], func(i uint16) bool {
			return !slices.ContainsFunc(at, func(r reach) bool { return r.holds(i) })
		})
		p.candidates = p.candidates[:before+len(held)]
	}
}

// reachesOf keeps and returns the reaches of the targets of a repository.
func (p *shardPlan) reachesOf(pass []*basic, repository uint32) []reach {
	out := make([]reach, len(pass))
	for k, b := range pass {
		known, ok := p.reach[k][repository]
		if !ok {
			known = p.reachOf(b.targets[repository])
			p.reach[k][repository] = known
		}
		out[k] = known
	}
	return out
}

// pathWeight is what a document counts whose text nobody looks at.
const pathWeight = 1 << 10

// weight estimates the bytes to verify for document i.
func (p *shardPlan) weight(i uint16) int {
	if !p.reads(i) {
		return pathWeight
	}
	size := int(p.docs.TextBytes[i])
	if size <= postings.BlockBytes {
		return size
	}
	// One atom with blocks is the usual case; others read whole documents.
	if len(p.basics) == 1 && len(p.basics[0].atoms) == 1 {
		if c := &p.basics[0].atoms[0].content; c.Blocks != nil {
			return postings.BlockBytes
		}
	}
	return size
}

// reads reports whether an atom may be looked for in the text of document i.
func (p *shardPlan) reads(i uint16) bool {
	for b := range p.basics {
		for a := range p.basics[b].atoms {
			if c := &p.basics[b].atoms[a].content; c.All || c.Docs.Contains(i) {
				return true
			}
		}
	}
	return false
}
