package documents

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/execute"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/verify"
)

// pipeline verifies segments and sends what they have in the order in which
// they are put. A few are verified where they are put: to wake a worker takes
// as long as to verify ten blocks. More are verified by workers, while another
// goroutine sends and segments are still being put; but not while other searches
// have the processors busy: what workers verify ahead of what has been sent, a
// limit may discard, and another search could have used the time. Nor does a search
// that goes on from a bookmark verify ahead until it has sent a few groups: its
// client has not read what was found before.
type pipeline struct {
	runner  *Runner
	ctx     context.Context
	cancel  context.CancelFunc
	queries []*target.Query

	// sentBefore is how many groups an earlier run sent.
	sentBefore int
	// held are the segments put while there are few, of heldBytes to verify, and
	// alone verifies them without workers; over says that no more are wanted.
	held      []*segment
	heldBytes int
	alone     *verify.Verifier
	over      bool
	// ordered is nil until workers are wanted, of which there may be as many as
	// workers says; sending ends when everything that they found was sent.
	ordered *execute.Ordered[*segment]
	workers int
	sending sync.WaitGroup
	// gate, with workers, keeps them from what will hardly be asked for. fed is
	// how many groups were put.
	gate *gate
	fed  int

	// What follows belongs to the goroutine that sends, and after end to its caller:
	// the matches of the group at hand, the number of the source of the last segment that
	// was taken, and why nothing more was.
	group      []query.Match
	unfinished int
	err        error
	// panicked is what the sink panicked with, on the goroutine that sends.
	panicked any
	// groups is how many were sent as a whole, by this run or an earlier one. cut is how
	// many documents up to now have more matches than are kept.
	groups, cut int

	mu          sync.Mutex // guards what follows
	docs, bytes int        // work done, for traces
}

// lazyGroups is how many groups a search that was resumed sends before it
// verifies ahead again.
const lazyGroups = 4

// fewBytes is how many bytes are verified before workers are started.
const fewBytes = 192 << 10

func newPipeline(ctx context.Context, r *Runner, queries []*target.Query) *pipeline {
	p := &pipeline{runner: r, queries: queries, workers: 1, sentBefore: r.Past.Groups, cut: r.Past.TextsCut}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// put takes the next segment. It reports false when no more are wanted.
func (p *pipeline) put(s *segment) bool {
	if s.group = p.fed; s.lastOfGroup {
		p.fed++
	}
	switch {
	case p.ordered != nil:
		p.runner.Task.Slot.Leave() // workers have slots of their own
		return p.ordered.Put(s)
	case p.groups < p.sentBefore:
		return p.leaveOut(s)
	}
	p.held = append(p.held, s)
	if p.heldBytes += s.bytes; p.heldBytes <= fewBytes {
		return p.ctx.Err() == nil
	}
	return p.start()
}

// start has verified what was put, and what will be: it is more than a little,
// or it takes long to come.
func (p *pipeline) start() bool {
	if p.ordered != nil {
		return p.ctx.Err() == nil
	}
	n := p.runner.Task.Processors.Goroutines()
	if n == 1 || p.isLazy() || p.isPlenty() {
		return p.verifyHeld()
	}
	p.runner.Task.Slot.Leave()
	p.workers = n
	p.gate = newGate(p.groups, p.runner.Out.Remaining(), p.runner.Out.MayTakeFewer())
	p.gate.noteFound(p.group)
	p.ordered = execute.New(p.ctx, execute.Options[*segment]{
		Workers: n, Ahead: execute.Ahead, Worker: p.worker, Abandon: func(s *segment, err error) { s.Err = err },
	})
	p.sending.Go(p.send)
	for _, s := range p.held {
		if !p.ordered.Put(s) {
			return false
		}
	}
	p.held = nil
	return true
}

// verifyHeld verifies and sends what is held. It reports false when no more is
// wanted.
func (p *pipeline) verifyHeld() bool {
	for _, s := range p.held {
		if p.alone == nil {
			p.alone = p.verifier()
		}
		if p.verifySegment(p.alone, s); !p.take(s) {
			p.over = true
			break
		}
	}
	clear(p.held)
	p.held, p.heldBytes = p.held[:0], 0
	return !p.over && p.ctx.Err() == nil
}

// wanted returns how many more matches are to be sent, as far as that is known by
// now.
func (p *pipeline) wanted() int {
	switch {
	case p.gate != nil:
		return p.gate.wanted()
	case p.runner.Out.MayTakeFewer():
		return math.MaxInt
	}
	return p.runner.Out.Remaining()
}

// verifyEnough verifies the held segments if so many candidates may satisfy the limit, so
// that no further shard is planned in vain. It reports false when no more matches
// are wanted.
func (p *pipeline) verifyEnough(candidates int) bool {
	if p.ordered == nil && len(p.held) > 0 && candidates >= p.wanted() {
		return p.verifyHeld()
	}
	return p.ctx.Err() == nil
}

// plenty is how many documents are held for each match that is wanted where these
// probably have enough.
const plenty = 8

// isPlenty reports whether the first held segments probably have all matches that are
// wanted: workers would verify others in vain.
func (p *pipeline) isPlenty() bool {
	if p.alone != nil {
		return false // those before had not
	}
	docs := 0
	for _, s := range p.held {
		docs += len(s.Docs)
	}
	return p.wanted() <= docs/plenty
}

// isLazy reports whether nothing is verified ahead.
func (p *pipeline) isLazy() bool {
	return p.runner.IsResumed && p.groups < p.sentBefore+lazyGroups
}

// leaveOut leaves out a segment that was sent before.
func (p *pipeline) leaveOut(s *segment) bool {
	s.Verified = len(s.Docs)
	p.runner.Coverage.Verify(&s.Segment)
	p.unfinished = s.shard
	if s.lastOfGroup {
		p.groups++
	}
	return p.ctx.Err() == nil
}

// worker returns what a worker verifies segments with, and what ends it.
func (p *pipeline) worker() (run func(*segment), end func()) {
	v := p.verifier()
	return func(s *segment) {
		if s.Err = p.gate.wait(p.ctx, s.group); s.Err == nil {
			p.verifySegment(v, s)
			p.gate.noteFound(s.Matches)
		}
	}, func() { p.release(v) }
}

func (p *pipeline) verifier() *verify.Verifier {
	return verify.New(p.queries, p.runner.Options)
}

func (p *pipeline) verifySegment(v *verify.Verifier, s *segment) {
	at := p.runner.Task.Slot
	if v != p.alone {
		at = p.runner.Task.Processors.Slot()
		defer at.Release()
	}
	if s.Err = at.Acquire(p.ctx); s.Err != nil {
		return
	}
	v.Verify(p.ctx, at, &s.Segment)
	p.runner.Coverage.Verify(&s.Segment)
}

func (p *pipeline) release(v *verify.Verifier) {
	if err := v.Close(); err != nil {
		v.Plan.Fail(p.runner.Task, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.docs, p.bytes = p.docs+v.Documents, p.bytes+v.Bytes
	p.runner.Task.TextsCut.Add(int64(v.TextsCut))
}

// releaseAlone releases the verifier that works without workers, if there is one.
func (p *pipeline) releaseAlone() {
	if p.alone != nil {
		p.release(p.alone)
		p.alone = nil
	}
}

// send sends what workers find, until all was put or no more is wanted.
func (p *pipeline) send() {
	// The goroutine of the request goes on with the panic, where servers recover.
	defer func() {
		if p.panicked = recover(); p.panicked != nil {
			p.cancel()
		}
	}()
	more := true
	p.ordered.Each(func(s *segment) bool {
		if more = p.take(s); !more {
			p.cancel()
		}
		return more
	})
	p.flush(more)
}

// end verifies what is held, waits for what is under way, and returns why not
// all was sent.
func (p *pipeline) end() error {
	defer p.cancel()
	if p.ordered != nil {
		p.runner.Task.Slot.Leave()
		p.ordered.Close()
		p.sending.Wait()
		p.releaseAlone()
		if p.panicked != nil {
			panic(p.panicked)
		}
		return p.err
	}
	if !p.over {
		p.verifyHeld()
	}
	p.releaseAlone()
	p.flush(!p.over)
	return p.err
}

// take adds the matches of the next segment to its group, and sends the group,
// sorted, when it is whole. It reports false when no more are wanted, or can be
// had. What was confirmed before time was up is still sent; nothing is once the
// caller has gone.
func (p *pipeline) take(s *segment) bool {
	p.group = append(p.group, s.Matches...)
	p.unfinished, p.cut = s.shard, p.cut+s.Cut
	if s.Err != nil {
		if err := p.ctx.Err(); err != nil {
			p.err = errors.Join(err, p.sendGroup())
			return false
		}
		s.Plan.Fail(p.runner.Task, s.Err)
	}
	if !s.lastOfGroup {
		return true
	}
	var rest []query.Match
	if s.isTop {
		p.group, rest = divide(p.group)
	}
	n := countMatches(p.group)
	if p.err = p.sendGroup(); p.err != nil {
		return false
	}
	p.group = rest
	if p.gate != nil {
		p.gate.noteSent(n, p.runner.Out.Remaining())
	}
	if p.groups++; len(rest) == 0 {
		p.runner.Out.MarkSent(p.groups, p.cut)
	}
	return !p.runner.Out.IsFullHere()
}

// flush sends what is left, if there was no reason to stop before.
func (p *pipeline) flush(more bool) {
	if more {
		p.err = p.sendGroup()
	}
}

func (p *pipeline) sendGroup() error {
	if err := p.ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	err := p.runner.Out.Send(sortGroup(p.group))
	p.group = nil
	return err
}
