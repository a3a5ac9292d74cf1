package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// A shard is worth rewriting when more than half of its documents are dead. It
// is small when its live blocks are less than half of a full shard. Small shards
// are joined when mergeFrom of them are of about the same size, none more than
// tierRatio times another, with the smaller ones beside them; or when they nearly
// fill a shard. So there are fewer than mergeFrom small shards in each tier, and a
// document is rewritten once in each while its shard grows to full size.
const (
	deadShare  = 2
	smallShare = 2
	mergeFrom  = 4
	tierRatio  = 4
	// leastTier is the size in blocks up to which all shards are of one tier.
	leastTier = 16
)

// Merger rewrites shards. It decides which of them are worth it.
type Merger struct {
	store   *store.Store
	changes *changes
	room    *Room
	writers *writers
	pace    *pace
	// blocks is the most blocks of a shard.
	blocks int
}

// Merge rewrites shards that are small or mostly dead, one group after the
// other, until none is left that is worth it. Each group is switched in one
// commit; interrupted anywhere, the old shards stay. It reports progress in
// phase "merge" and returns how many shards it replaced. report may be nil.
func (mr *Merger) Merge(ctx context.Context, report func(Progress)) (int, error) {
	if report == nil {
		report = func(Progress) {}
	}
	replaced := 0
	for {
		var n int
		var more bool
		err := mr.changes.heal(ctx, func() (err error) {
			n, more, err = mr.mergeOnce(ctx, report)
			return err
		})
		if err != nil {
			return replaced, fmt.Errorf("merge: %w", err)
		}
		if replaced += n; !more {
			return replaced, nil
		}
	}
}

// mergeOnce merges one group, and returns how many shards it replaced and whether
// there may be another group. Small syncs go on meanwhile.
func (mr *Merger) mergeOnce(ctx context.Context, report func(Progress)) (replaced int, more bool, err error) {
	leave, err := mr.changes.rewrite(ctx)
	if err != nil {
		return 0, false, err
	}
	defer leave()
	sn, err := mr.changes.begin()
	if err != nil {
		return 0, false, err
	}
	defer sn.Close()
	circles := newCircles(sn)
	group := mr.chooseGroup(sn.Shards(), circles.byShard(sn))
	if len(group) == 0 {
		return 0, false, nil
	}
	m := &merging{merger: mr, sn: sn, phase: "merge", report: report, circles: circles}
	switch err := m.replace(ctx, group); {
	case errors.Is(err, errOvertaken):
		return 0, true, nil // it is chosen again
	case err != nil:
		return 0, false, err
	}
	return len(group), true, nil
}

// replace rewrites a group and switches to what was written. changes.rewriting is held.
func (m *merging) replace(ctx context.Context, group []shard.View) error {
	if err := m.merger.room.check(); err != nil {
		return err
	}
	m.outputs, m.written = map[uint32]map[uint32]bool{}, map[uint32][]source{}
	rewrite := m.rewrite
	if group[0].Header.IsHistory() {
		rewrite = m.rewriteHistory
	}
	m.keepSymbols(group)
	err := rewrite(ctx, group)
	if err == nil {
		err = m.commit(group)
	}
	if err != nil {
		m.merger.changes.discard(m.add, err)
	}
	return err
}

// chooseGroup returns the shards to rewrite together, none if it is not worth
// it. They are all of files or all of commits, and of one circle, unless it is
// one shard that is to be taken apart.
func (mr *Merger) chooseGroup(views []shard.View, circles map[uint32][]string) []shard.View {
	var files, commits []shard.View
	for _, v := range views {
		if v.Quarantine != nil {
			continue
		}
		if len(circles[v.ID]) > 1 {
			return []shard.View{v}
		}
		if v.Header.IsHistory() {
			commits = append(commits, v)
		} else {
			files = append(files, v)
		}
	}
	if group := mr.chooseOf(files, circles); len(group) > 0 {
		return group
	}
	return mr.chooseOf(commits, circles)
}

func (mr *Merger) chooseOf(views []shard.View, circles map[uint32][]string) []shard.View {
	small := map[string][]shard.View{}
	for _, v := range views {
		if live := liveBlocks(v); live*smallShare < mr.blocks && !v.Header.Full {
			circle := strings.Join(circles[v.ID], "")
			small[circle] = append(small[circle], v)
		}
	}
	for _, circle := range slices.Sorted(maps.Keys(small)) {
		if group := mr.tier(small[circle]); len(group) > 0 {
			return group
		}
	}
	for _, v := range views {
		if v.Dead != nil && v.Dead.Len()*deadShare > v.Header.Documents {
			return []shard.View{v}
		}
	}
	return nil
}

// tier returns the shards of the lowest tier that is to be joined, with all that
// are smaller.
func (mr *Merger) tier(small []shard.View) []shard.View {
	slices.SortFunc(small, func(a, b shard.View) int {
		return cmp.Or(liveBlocks(a)-liveBlocks(b), cmp.Compare(a.ID, b.ID))
	})
	size := func(i int) int { return max(liveBlocks(small[i]), leastTier) }
	fits, sum := 0, 0
	for fits < len(small) && sum+liveBlocks(small[fits]) <= mr.blocks {
		sum += liveBlocks(small[fits])
		fits++
	}
	for end := mergeFrom; end <= fits; end++ {
		most := tierRatio * size(end-mergeFrom)
		if size(end-1) > most {
			continue
		}
		for end < fits && size(end) <= most {
			end++
		}
		return small[:end]
	}
	if fits > 1 && 4*sum >= 3*mr.blocks {
		return small[:fits]
	}
	return nil
}

// liveBlocks estimates the blocks that a rewritten shard would have.
func liveBlocks(v shard.View) int {
	if v.Dead == nil {
		return v.Header.Blocks
	}
	return v.Header.Blocks * (v.Header.Documents - v.Dead.Len()) / v.Header.Documents
}

// merging is one rewrite.
type merging struct {
	merger *Merger
	sn     *store.Snapshot
	phase  string
	report func(Progress)
	// circles says whose documents may share a shard.
	circles circles
	add     []shard.Header
	// outputs are the new shards of each repository.
	outputs map[uint32]map[uint32]bool
	// written are the documents of the new shards, by shard.
	written map[uint32][]source
	// symbols are the counts of the first new shard, nil if symbols are not
	// copied; the other shards count no failures.
	symbols *shard.SymbolCounts
}

// source is a live document of an input shard.
type source struct {
	view   shard.View
	circle string
	text   *shard.Text
	docs   *shard.Documents
	doc    int
	stars  int
	// indexed says that it is not in the set of blocks scanned always.
	indexed bool
}

func (m *merging) rewrite(ctx context.Context, group []shard.View) error {
	var all []source
	for _, v := range group {
		docs, err := v.Documents()
		if err != nil {
			return err
		}
		text := v.Text()
		for i := range docs.Len() {
			if v.Dead != nil && v.Dead.Contains(uint16(i)) {
				continue
			}
			s := source{view: v, circle: m.circles[docs.Repository[i]], text: text, docs: docs, doc: i}
			if r := m.sn.RepositoryByID(docs.Repository[i]); r != nil {
				s.stars = r.Stars
			}
			scan := v.ScanAlways()
			s.indexed = scan == nil || !scan.Contains(uint16(docs.FirstBlock[i]))
			all = append(all, s)
		}
	}
	slices.SortFunc(all, compareSources)
	return m.write(ctx, group, all)
}

// compareSources is rank order within a circle: repository rank, then document
// quality.
func compareSources(a, b source) int {
	return cmp.Or(strings.Compare(a.circle, b.circle),
		b.stars-a.stars,
		cmp.Compare(b.docs.Repository[b.doc], a.docs.Repository[a.doc]),
		cmp.Compare(a.docs.Quality[a.doc], b.docs.Quality[b.doc]),
		strings.Compare(a.docs.Path(a.doc), b.docs.Path(b.doc)),
		bytes.Compare(a.docs.OID(a.doc), b.docs.OID(b.doc)))
}

func (m *merging) write(ctx context.Context, inputs []shard.View, all []source) error {
	w := m.begin(ctx, inputs)
	defer w.Close()
	var texts openTexts
	defer texts.close()
	for i, s := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := s.docs.At(s.doc)
		if !w.Fits(int(d.TextBytes)) || i > 0 && s.circle != all[i-1].circle {
			if err := w.finish(ctx); err != nil {
				return err
			}
		}
		err := m.merger.pace.run(ctx, func() error {
			text, err := texts.slice(s.text, s.docs.TextStart[s.doc], s.docs.TextStart[s.doc+1])
			if err != nil {
				return err
			}
			return w.AddDocument(d, text, s.indexed)
		})
		if err != nil {
			return err
		}
		w.pending[d.Repository] = true
		w.written = append(w.written, s)
		m.step(ctx, i+1, len(all))
	}
	return w.finish(ctx)
}

// mergeWriter writes the shards of a merge.
type mergeWriter struct {
	*shard.Writer
	m *merging
	// pending are the repositories with documents in the shard begun, written the
	// documents.
	pending map[uint32]bool
	written []source
}

// step reports that done of all documents or commits are written.
func (m *merging) step(ctx context.Context, done, all int) {
	if done%reportEvery == 0 || done == all {
		m.report(Progress{Phase: m.phase, Done: done, Total: all})
	}
}

// fewBlocks is how many blocks a merge has that follows a few commits.
const fewBlocks = postings.MaxBlocks / 16

func (m *merging) begin(ctx context.Context, inputs []shard.View) *mergeWriter {
	blocks := 0
	for _, v := range inputs {
		blocks += v.Header.Blocks
	}
	return &mergeWriter{Writer: m.merger.writers.begin(ctx, blocks <= fewBlocks), m: m, pending: map[uint32]bool{}}
}

// finish completes the shard begun, if there is one.
func (w *mergeWriter) finish(ctx context.Context) error {
	if w.Empty() {
		return nil
	}
	var h shard.Header
	err := w.m.merger.pace.run(ctx, func() (err error) {
		h, err = w.Finish(ctx)
		return err
	})
	if err != nil {
		return err
	}
	w.m.add = append(w.m.add, h)
	if err := w.m.copySymbols(ctx, &w.m.add[len(w.m.add)-1], w.written); err != nil {
		return err
	}
	for repo := range w.pending {
		if w.m.outputs[repo] == nil {
			w.m.outputs[repo] = map[uint32]bool{}
		}
		w.m.outputs[repo][h.ID] = true
	}
	clear(w.pending)
	if len(w.written) > 0 {
		w.m.written[h.ID] = w.written
		w.written = nil
	}
	return nil
}

// commit switches from the group to what was written. What has happened to its
// documents since m.sn happens to their copies.
func (m *merging) commit(group []shard.View) error {
	return m.merger.changes.update(func(tx *store.Tx) (err error) {
		tx.Change, err = m.change(tx.Snapshot(), group)
		return err
	})
}

// change returns the change of commit.
func (m *merging) change(sn *store.Snapshot, group []shard.View) (c store.Change, err error) {
	now := map[uint32]shard.View{}
	gone, holding := map[uint32]bool{}, map[uint32]bool{}
	for _, v := range group {
		present, there := sn.Shard(v.ID)
		switch {
		case present.Quarantine != nil:
			return c, errOvertaken
		case !there:
			continue // all of it is dead
		}
		now[v.ID] = present
		gone[v.ID] = true
		c.Drop = append(c.Drop, v.ID)
		for id := range sn.ShardRepositories(v.ID) {
			holding[id] = true
		}
	}
	follow := m.follow(now)
	c.Dead, c.Away = follow.dead, follow.away
	for _, h := range m.add {
		if dead := c.Dead[h.ID]; dead != nil && dead.Len() == h.Documents {
			c.Drop = append(c.Drop, h.ID)
			delete(c.Dead, h.ID)
			continue
		}
		c.Add = append(c.Add, h)
	}
	for _, id := range slices.Sorted(maps.Keys(holding)) {
		r := sn.RepositoryByID(id)
		next := *r
		shards := &next.Shards
		if group[0].Header.IsHistory() {
			shards = &next.History.Shards
		}
		*shards = slices.DeleteFunc(slices.Clone(*shards), func(id uint32) bool { return gone[id] })
		for id := range m.outputs[r.ID] {
			if follow.holds(id, r.ID) {
				*shards = append(*shards, id)
			}
		}
		slices.Sort(*shards)
		c.Repositories = append(c.Repositories, &next)
	}
	return c, nil
}

// followed is what is known of documents that were copied.
type followed struct {
	dead map[uint32]*postings.Set
	away map[store.ShardRepository][]*postings.Set
	// live are the repositories with documents in the shards that have dead ones.
	live map[store.ShardRepository]bool
}

// holds reports whether a repository has a live document in a new shard.
func (f *followed) holds(shard, repository uint32) bool {
	return f.dead[shard] == nil || f.live[store.ShardRepository{Shard: shard, Repository: repository}]
}

// follow returns what is known of the copies: a copy is dead if the original has
// died since m.sn, and away from the branches from which the original is. now are
// the input shards as they are, without those that have been dropped.
func (m *merging) follow(now map[uint32]shard.View) *followed {
	f := &followed{map[uint32]*postings.Set{}, map[store.ShardRepository][]*postings.Set{}, map[store.ShardRepository]bool{}}
	for id, written := range m.written {
		for doc, s := range written {
			v, there := now[s.view.ID]
			if !there || v.Dead != nil && v.Dead.Contains(uint16(s.doc)) {
				if f.dead[id] == nil {
					f.dead[id] = &postings.Set{}
				}
				f.dead[id].Add(uint16(doc))
				continue
			}
			of := store.ShardRepository{Shard: id, Repository: s.docs.Repository[s.doc]}
			for n, set := range v.Away(of.Repository) {
				if set == nil || !set.Contains(uint16(s.doc)) {
					continue
				}
				if f.away[of] == nil {
					f.away[of] = make([]*postings.Set, len(v.Away(of.Repository)))
				}
				if f.away[of][n] == nil {
					f.away[of][n] = &postings.Set{}
				}
				f.away[of][n].Add(uint16(doc))
			}
		}
	}
	for id := range f.dead {
		for doc, s := range m.written[id] {
			if !f.dead[id].Contains(uint16(doc)) {
				f.live[store.ShardRepository{Shard: id, Repository: s.docs.Repository[s.doc]}] = true
			}
		}
	}
	return f
}
