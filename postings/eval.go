package postings

import (
	"math/bits"
	"slices"
)

// Reader gives the posting lists of one field of one shard.
type Reader interface {
	// Exact reports whether List and Scan know trigrams with an upper-case
	// letter. They are asked for folded ones only if it does not.
	Exact() bool
	// List appends the encoded list of t to dst; nothing appended means that
	// the shard has no such trigram.
	List(dst []byte, t Trigram) ([]byte, error)
	// Scan yields the lists from trigram lo up to but not including hi; the
	// value is borrowed until f returns. f stops the scan by returning false.
	Scan(lo, hi Trigram, f func(value []byte) (bool, error)) error
	// WideFold returns the blocks whose text holds U+017F or U+212A, and
	// ScanAlways those that are not indexed and may hold anything. Both are
	// borrowed; nil is an empty set.
	WideFold() (*Set, error)
	ScanAlways() (*Set, error)
	// Blocks is how many blocks the shard has.
	Blocks() int
	// DocOf maps each block to its document, and is borrowed. It is asked for only when
	// lists leave some blocks, since it may have to be read.
	DocOf() ([]uint16, error)
}

// Candidates are what an expression leaves of one shard.
type Candidates struct {
	// All says that nothing was ruled out; the other fields are then unset.
	All  bool
	Docs *Set
	// Blocks, if not nil, are blocks of which at least one part of Anchor
	// begins in each match: text elsewhere need not be looked at.
	Blocks *Set
	// Anchor is the part of the expression that Blocks stand for: a *Literal or
	// *Ranges, or an *Or of them.
	Anchor Expr
	// Parts, if not nil, are the blocks of each alternative of an Anchor that is
	// an *Or. They may have more than Blocks.
	Parts []*Set
}

// Bytes is the memory that the sets of c take.
func (c *Candidates) Bytes() (n int) {
	n = c.Docs.Bytes() + c.Blocks.Bytes()
	for _, s := range c.Parts {
		n += s.Bytes()
	}
	return n
}

// Cost counts what evaluation read.
type Cost struct {
	Lists int
	Bytes int
}

// Evaluator runs expressions over one shard, field and reader. It is not safe
// for concurrent use.
type Evaluator struct {
	Reader Reader
	// Within, if not nil, are the blocks that matter: literals of a trigram or
	// more rule out all others, and so may do with fewer lists. It is not changed.
	Within *Set
	Cost   Cost
	// Scratch is memory that evaluators may use one after the other; nil is
	// memory of its own.
	Scratch *Scratch
}

// Scratch is the memory of evaluators. Its zero value is ready. Their results
// do not lie in it.
type Scratch struct {
	buf   []byte
	lists []list
	tmp   Set
	// orders are those of the last literals, of which a query asks every shard.
	orders [8]order
	next   int
}

// order is the trigrams of a literal, once each, those that are probably rarest
// first.
type order struct {
	of       *Literal
	exact    bool
	trigrams []Trigram
}

// rarestFirst returns the order of l, spelled as runs. It is not changed.
func (sc *Scratch) rarestFirst(l *Literal, runs []string) []Trigram {
	exact := len(runs) > 0 && &runs[0] != &l.Runs[0]
	for i := range sc.orders {
		if o := &sc.orders[i]; o.of == l && o.exact == exact {
			return o.trigrams
		}
	}
	o := &sc.orders[sc.next]
	sc.next = (sc.next + 1) % len(sc.orders)
	*o = order{of: l, exact: exact, trigrams: o.trigrams[:0]}
	for _, run := range runs {
		o.trigrams = AppendTrigrams(o.trigrams, run)
	}
	slices.Sort(o.trigrams)
	o.trigrams = slices.Compact(o.trigrams)
	slices.SortStableFunc(o.trigrams, rarity)
	return o.trigrams
}

func (ev *Evaluator) scratch() *Scratch {
	if ev.Scratch == nil {
		ev.Scratch = &Scratch{}
	}
	return ev.Scratch
}

type list struct {
	lo, hi, count int
}

// Eval returns the candidates of e.
func (ev *Evaluator) Eval(e Expr) (Candidates, error) {
	switch e := e.(type) {
	case constant:
		if e {
			return Candidates{All: true}, nil
		}
		return Candidates{Docs: &Set{}}, nil
	case *Literal:
		blocks, err := ev.blocks(e)
		return ev.candidates(e, blocks, e.WideFold, err)
	case *Ranges:
		blocks, err := ev.ranges(e.Ranges)
		return ev.candidates(e, blocks, false, err)
	case *And:
		return ev.and(e)
	case *Or:
		return ev.or(e)
	}
	panic("postings: unknown expression")
}

// and intersects documents and keeps the anchor with the fewest blocks. Parts
// with few lists come first. It stops reading lists once no document is left,
// and leaves out parts that would cost more than they save.
func (ev *Evaluator) and(e *And) (Candidates, error) {
	out := Candidates{All: true}
	parts := slices.Clone(e.Exprs)
	slices.SortStableFunc(parts, func(a, b Expr) int { return lists(a) - lists(b) })
	for _, part := range parts {
		if !out.All && !ev.worth(part, out) {
			continue
		}
		c, err := ev.Eval(part)
		if err != nil || c.All {
			if err != nil {
				return Candidates{}, err
			}
			continue
		}
		if out.All {
			out = c
		} else {
			out.Docs.And(c.Docs)
			if c.Blocks != nil && (out.Blocks == nil || c.Blocks.Len() < out.Blocks.Len()) {
				out.Blocks, out.Anchor, out.Parts = c.Blocks, c.Anchor, c.Parts
			}
		}
		if out.Docs.Len() == 0 {
			break
		}
	}
	if out.Blocks != nil {
		return out, ev.confine(out.Blocks, out.Docs)
	}
	return out, nil
}

// What parts of an And are worth. A part of whole literals reads a handful of
// lists. Runs of one and two bytes are prefixes of thousands and hundreds of
// lists, at half a microsecond each, where to verify a block takes four; and
// nearly every block has some bytes, such as a colon, whatever it costs to ask.
const (
	listsOfByte  = 4096
	listsOfPair  = 128
	listsOfRange = 64
	listsPerRun  = 4
	listsABlock  = 4
	// usualByte is the frequency of a byte that stands in 19 of 20 blocks.
	usualByte = 95
)

// lists estimates how many lists an expression reads.
func lists(e Expr) (n int) {
	switch e := e.(type) {
	case *Literal:
		switch longest(e.Runs) {
		case 1:
			return listsOfByte
		case 2:
			return listsOfPair
		}
		return listsPerRun * len(e.Runs)
	case *Ranges:
		return listsOfRange * len(e.Ranges)
	case *And:
		n = lists(e.Exprs[0])
		for _, part := range e.Exprs[1:] {
			n = min(n, lists(part))
		}
	case *Or:
		for _, part := range e.Exprs {
			n += lists(part)
		}
	}
	return n
}

// worth reports whether to read a part of an And of which others have left
// some candidates.
func (ev *Evaluator) worth(part Expr, left Candidates) bool {
	n := lists(part)
	if n < listsOfPair {
		return true
	}
	if says := saysLittle(part); says || left.Blocks == nil {
		return !says
	}
	return n <= listsABlock*left.Blocks.Len()
}

// saysLittle reports whether e holds for nearly every block, since a usual byte is
// enough.
func saysLittle(e Expr) bool {
	switch e := e.(type) {
	case *Literal:
		return longest(e.Runs) == 1 && ByteFrequency(e.Runs[0][0]) > usualByte
	case *And:
		return !slices.ContainsFunc(e.Exprs, func(part Expr) bool { return !saysLittle(part) })
	case *Or:
		return slices.ContainsFunc(e.Exprs, saysLittle)
	}
	return false
}

func longest(runs []string) (n int) {
	for _, r := range runs {
		n = max(n, len(r))
	}
	return n
}

// confine drops blocks of documents that are not in docs.
func (ev *Evaluator) confine(blocks, docs *Set) error {
	if docs.Len() == 0 {
		blocks.setArray(nil)
		return nil
	}
	docOf, err := ev.Reader.DocOf()
	if err != nil {
		return err
	}
	kept := make([]uint16, 0, blocks.Len())
	for b := range blocks.All() {
		if docs.Contains(docOf[b]) {
			kept = append(kept, b)
		}
	}
	blocks.setArray(kept)
	return nil
}

func (ev *Evaluator) or(e *Or) (Candidates, error) {
	out := Candidates{Docs: &Set{}, Blocks: &Set{}}
	var anchors []Expr
	var parts []*Set
	for _, part := range e.Exprs {
		c, err := ev.Eval(part)
		if err != nil || c.All {
			return Candidates{All: true}, err
		}
		out.Docs.Or(c.Docs)
		anchors = append(anchors, c.Anchor)
		parts = append(parts, c.Blocks)
		if c.Blocks == nil {
			out.Blocks = nil
		}
		if out.Blocks != nil {
			out.Blocks.Or(c.Blocks)
		}
	}
	if out.Blocks != nil && !slices.Contains(anchors, nil) {
		out.Anchor = NewOr(anchors...)
		// Unless it joined or dropped some.
		if or, ok := out.Anchor.(*Or); ok && slices.Equal(or.Exprs, anchors) {
			out.Parts = parts
		}
	} else {
		out.Blocks = nil
	}
	return out, nil
}

// candidates are those of an expression that was tested per block; nil blocks
// are all.
func (ev *Evaluator) candidates(e Expr, blocks *Set, wideFold bool, err error) (Candidates, error) {
	if err != nil {
		return Candidates{}, err
	}
	if blocks == nil {
		return Candidates{All: true}, nil
	}
	if wideFold {
		if err := include(blocks, ev.Reader.WideFold); err != nil {
			return Candidates{}, err
		}
	}
	if err := include(blocks, ev.Reader.ScanAlways); err != nil {
		return Candidates{}, err
	}
	docs, err := ev.project(blocks)
	return Candidates{Docs: docs, Blocks: blocks, Anchor: e}, err
}

// include adds the blocks that more returns.
func include(blocks *Set, more func() (*Set, error)) error {
	set, err := more()
	if set != nil {
		blocks.Or(set)
	}
	return err
}

// What candidates are worth: reading stops when no more than enoughBlocks are
// left, or when the last lists read, listsAtOnce of them, removed fewer than
// worthRemoving. To verify a block takes some four microseconds, most of them to
// get at its text, to read a list three. An absent literal is mostly known for
// absent after the first few lists; the later ones of a long phrase are long
// and say what was known.
const (
	enoughBlocks  = 2
	listsAtOnce   = 3
	worthRemoving = 4
)

// blocks finds the blocks that have every trigram of l's runs: it reads a few
// lists at a time, those that are probably rarest first, and stops when what is
// left costs less than reading on. It returns nil for a literal too common or
// too short to narrow.
func (ev *Evaluator) blocks(l *Literal) (*Set, error) {
	runs := ev.spelled(l)
	trigrams := ev.scratch().rarestFirst(l, runs)
	if len(trigrams) == 0 {
		return ev.short(runs)
	}
	var out *Set
	if ev.Within != nil {
		if out = ev.Within.Clone(); out.Len() <= enoughBlocks {
			return out, nil
		}
	}
	for len(trigrams) > 0 {
		n := min(listsAtOnce, len(trigrams))
		if there, err := ev.read(trigrams[:n]); err != nil || !there {
			return &Set{}, err
		}
		trigrams = trigrams[n:]
		before := MaxBlocks
		if out != nil {
			before = out.Len()
		}
		var err error
		if out, err = ev.intersect(out); err != nil {
			return nil, err
		}
		if out.Len() <= enoughBlocks || before-out.Len() < worthRemoving {
			break
		}
	}
	return out, nil
}

// spelled returns the runs of l. The one that Exact stands for is that if there
// are lists for its upper-case letters.
func (ev *Evaluator) spelled(l *Literal) []string {
	if l.Exact == "" || !ev.Reader.Exact() {
		return l.Runs
	}
	runs := slices.Clone(l.Runs)
	for i, run := range runs {
		if foldsTo(l.Exact, run) {
			runs[i] = l.Exact
		}
	}
	return runs
}

func foldsTo(text, folded string) bool {
	if len(text) != len(folded) {
		return false
	}
	for i := range len(text) {
		if foldTable[text[i]] != folded[i] {
			return false
		}
	}
	return true
}

// read reads the lists of some trigrams, shortest first; it reports false when
// the shard lacks one of them.
func (ev *Evaluator) read(trigrams []Trigram) (bool, error) {
	sc := ev.scratch()
	sc.buf, sc.lists = sc.buf[:0], sc.lists[:0]
	for _, t := range trigrams {
		lo := len(sc.buf)
		var err error
		if sc.buf, err = ev.Reader.List(sc.buf, t); err != nil {
			return false, err
		}
		ev.Cost.Lists++
		ev.Cost.Bytes += len(sc.buf) - lo
		if len(sc.buf) == lo {
			return false, nil
		}
		n, err := Count(sc.buf[lo:])
		if err != nil {
			return false, err
		}
		sc.lists = append(sc.lists, list{lo, len(sc.buf), n})
	}
	slices.SortFunc(sc.lists, func(a, b list) int { return a.count - b.count })
	return true, nil
}

// intersect takes the lists read into out, or makes out of them if it is nil.
func (ev *Evaluator) intersect(out *Set) (*Set, error) {
	sc := ev.scratch()
	lists := sc.lists
	if out == nil {
		out = &Set{}
		if err := out.Decode(sc.buf[lists[0].lo:lists[0].hi]); err != nil {
			return nil, err
		}
		lists = lists[1:]
	}
	for _, l := range lists {
		if out.Len() <= enoughBlocks {
			break
		}
		if err := out.AndEncoded(sc.buf[l.lo:l.hi], &sc.tmp); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Limits for runs of one and two bytes, which stand for up to 256 or 65,536
// lists: beyond these the scan costs more than it saves.
const (
	maxShortBytes = 4 << 20
	maxShortShare = 2 // at most 1/2 of all blocks
)

// short answers a literal whose longest run has one or two bytes from the
// trigrams that begin with it.
func (ev *Evaluator) short(runs []string) (*Set, error) {
	run := slices.MaxFunc(runs, func(a, b string) int { return len(a) - len(b) })
	lo := Trigram(run[0]) << 16
	hi := lo + 1<<16
	if len(run) == 2 {
		lo |= Trigram(run[1]) << 8
		hi = lo + 1<<8
	}
	return ev.ranges([]Range{{lo, hi}})
}

// ranges returns the blocks that have a trigram of one of the ranges, nil when
// that are too many to narrow.
func (ev *Evaluator) ranges(ranges []Range) (*Set, error) {
	words, tmp := make([]uint64, setWords), &ev.scratch().tmp
	read, tooMuch := 0, false
	for _, r := range ranges {
		// One list of many blocks is enough to know where the scan leads.
		wide := r.Hi-r.Lo > 1<<8
		err := ev.Reader.Scan(r.Lo, r.Hi, func(value []byte) (bool, error) {
			if err := tmp.Decode(value); err != nil {
				return false, err
			}
			ev.Cost.Lists++
			ev.Cost.Bytes += len(value)
			read += len(value)
			tmp.orWords(words)
			tooMuch = read > maxShortBytes || wide && tmp.Len() > ev.Reader.Blocks()/maxShortShare
			return !tooMuch, nil
		})
		if err != nil || tooMuch {
			return nil, err
		}
	}
	out := &Set{words: words, dense: true}
	out.recount()
	out.shrink()
	return out, nil
}

// project returns the documents that own blocks.
func (ev *Evaluator) project(blocks *Set) (*Set, error) {
	if blocks.Len() == 0 {
		return &Set{}, nil
	}
	docOf, err := ev.Reader.DocOf()
	if err != nil {
		return nil, err
	}
	if !blocks.dense {
		docs := make([]uint16, 0, len(blocks.array))
		for _, b := range blocks.array {
			if d := docOf[b]; len(docs) == 0 || docs[len(docs)-1] != d {
				docs = append(docs, d)
			}
		}
		return &Set{array: docs, count: len(docs)}, nil
	}
	// Blocks and documents are in the same order, so the bits of a word are
	// gathered before it is written.
	out := &Set{}
	words := out.makeDense()
	at, gathered := 0, uint64(0)
	for i, w := range blocks.words {
		for ; w != 0; w &= w - 1 {
			d := int(docOf[i<<6|bits.TrailingZeros64(w)])
			if d>>6 != at {
				words[at] |= gathered
				at, gathered = d>>6, 0
			}
			gathered |= 1 << (d & 63)
		}
	}
	words[at] |= gathered
	out.recount()
	out.shrink()
	return out, nil
}
