package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// clusterLoad is what goes on beside a fault. Clients change what the cluster keeps,
// one syncs commits, one ends tokens and looks whether they are taken; for each node
// one client searches, and one looks whether what is there goes back or is out of
// order.
type clusterLoad struct {
	r *clusterRun
	// whole is the context of changes, which are not given up when the load ends.
	whole, ctx context.Context
	end        context.CancelFunc
	done       sync.WaitGroup
	// away are nodes that are not asked, by their index. Of troubled ones, searches may
	// fail.
	away, troubled []atomic.Bool
	// answered and refused count the searches, refused those that nodes did not answer, or
	// not in full and said so, because they cannot tell who may or are troubled.
	answered, refused atomic.Int64
	// ended counts the answers to tokens whose end was a second ago or longer.
	ended atomic.Int64
}

// changers is how many clients make changes.
const changers = 4

// load starts the clients. The caller calls stop.
func (r *clusterRun) load(ctx context.Context) (*clusterLoad, error) {
	if err := r.stockTokens(ctx); err != nil {
		return nil, err
	}
	l := &clusterLoad{r: r, whole: ctx, away: make([]atomic.Bool, len(r.nodes)), troubled: make([]atomic.Bool, len(r.nodes))}
	l.ctx, l.end = context.WithCancel(ctx)
	start := func(client func(rng *rand.Rand)) {
		rng := rand.New(rand.NewPCG(r.rng.Uint64(), 8))
		l.done.Go(func() { client(rng) })
	}
	for part := range changers {
		start(func(rng *rand.Rand) { l.change(part, rng) })
	}
	for i := range r.nodes {
		start(func(rng *rand.Rand) { l.search(i, rng) })
		l.done.Go(func() { l.watch(i) })
	}
	start(l.follow)
	if r.Grace == 0 {
		start(l.endTokens)
	}
	return l, nil
}

// stop ends the clients, changes in good order: nothing is under way behind it but
// what had no answer within answerWithin.
func (l *clusterLoad) stop() {
	l.end()
	l.done.Wait()
}

// count notes what clients were answered.
func (l *clusterLoad) count(facts *ClusterFault) {
	facts.Answered, facts.Refused, facts.Ended = l.answered.Load(), l.refused.Load(), l.ended.Load()
}

// setAway says that a node is killed, or there again.
func (l *clusterLoad) setAway(n *clusterNode, away bool) { l.away[n.number-1].Store(away) }

// setTroubled says that some nodes have a fault, or none any more.
func (l *clusterLoad) setTroubled(nodes []*clusterNode, troubled bool) {
	for _, n := range nodes {
		l.troubled[n.number-1].Store(troubled)
	}
}

// there returns a node that is there.
func (l *clusterLoad) there(rng *rand.Rand) *clusterNode {
	for {
		if i := rng.IntN(len(l.r.nodes)); !l.away[i].Load() {
			return l.r.nodes[i]
		}
	}
}

const (
	// changeEvery and so on are the times between two.
	changeEvery = 30 * time.Millisecond
	searchEvery = 20 * time.Millisecond
	watchEvery  = 200 * time.Millisecond
	followEvery = 300 * time.Millisecond
	tokenEvery  = 150 * time.Millisecond
	// answerWithin bounds the wait for one answer.
	answerWithin = 30 * time.Second
)

// change makes changes of all kinds, one after the other. Of the repositories, each
// part is one client's.
func (l *clusterLoad) change(part int, rng *rand.Rand) {
	for pause(l.ctx, changeEvery) {
		ctx, cancel := context.WithTimeout(l.whole, answerWithin)
		l.one(ctx, l.there(rng), part, rng)
		cancel()
	}
}

func (l *clusterLoad) one(ctx context.Context, n *clusterNode, part int, rng *rand.Rand) {
	h := &l.r.history
	switch kind := rng.IntN(20); {
	case kind < 2:
		name := fmt.Sprintf("user%d", rng.Uint64())
		h.madeUser(name, n.createUser(ctx, name, false))
	case kind < 4:
		t, err := n.createToken(ctx)
		h.madeToken(t, err)
	case kind < 6:
		if t := h.takeToken(); t != nil {
			h.revokedToken(t, n.revoke(ctx, t))
		}
	default:
		i := rng.IntN(max(1, l.r.Repositories/changers))*changers + part
		if i >= l.r.Repositories {
			return
		}
		name := l.r.fleet.repository(i).name
		if stars := h.askStars(name); stars > 0 {
			err := n.setStars(ctx, name, stars)
			h.starred(name, err, ctx.Err() != nil)
		}
	}
}

// follow makes commits and has nodes sync them.
func (l *clusterLoad) follow(rng *rand.Rand) {
	for pause(l.ctx, followEvery) {
		name, word, err := l.r.addCommit(l.whole, rng)
		if err != nil {
			l.r.problem("%v", err)
			return
		}
		ctx, cancel := context.WithTimeout(l.ctx, answerWithin)
		if l.there(rng).sync(ctx, name) == nil {
			l.r.history.found(word, nil)
		}
		cancel()
	}
}

// tokenStock is how many tokens all nodes have taken before a load begins.
const tokenStock = 20

// stockTokens has all nodes take tokens, so that one without news believes in them.
func (r *clusterRun) stockTokens(ctx context.Context) error {
	for len(r.stock) < tokenStock {
		t, err := r.tokenEverywhere(ctx, r.anyNode())
		if err != nil {
			return err
		}
		r.stock = append(r.stock, t)
	}
	return nil
}

// endTokens ends tokens that all nodes have taken, on nodes that are well. Who asks with
// one a second after its end was acknowledged, or later, is refused by all nodes, whatever
// they suffer from.
func (l *clusterLoad) endTokens(rng *rand.Rand) {
	for len(l.r.stock) > 0 && pause(l.ctx, tokenEvery) {
		t := l.r.stock[0]
		l.r.stock = l.r.stock[1:]
		ctx, cancel := context.WithTimeout(l.whole, mostRevoked)
		err := l.well(rng).revoke(ctx, t)
		cancel()
		revoked := time.Now()
		l.r.history.revokedToken(t, err)
		if err != nil {
			continue
		}
		for _, n := range l.r.nodes {
			for _, wait := range []time.Duration{mostRevoked, mostRevoked + time.Duration(rng.Int64N(int64(mostRevoked)))} {
				l.done.Go(func() { l.askEnded(n, t, revoked, wait) })
			}
		}
	}
}

// askEnded asks with a token some time after its end.
func (l *clusterLoad) askEnded(n *clusterNode, t *accessToken, revoked time.Time, wait time.Duration) {
	if !pause(l.ctx, wait-time.Since(revoked)) {
		return
	}
	asked := time.Since(revoked)
	ok, err := n.takes(l.ctx, t)
	switch {
	case err != nil: // a node may be killed
	case ok:
		l.r.problem("%s took token %d when asked %s after it was revoked", n, t.ID, showDuration(asked))
	default:
		l.ended.Add(1)
	}
}

// well returns a node without a fault, or any that is there if all have one.
func (l *clusterLoad) well(rng *rand.Rand) *clusterNode {
	for range 10 * len(l.r.nodes) {
		if i := rng.IntN(len(l.r.nodes)); !l.troubled[i].Load() && !l.away[i].Load() {
			return l.r.nodes[i]
		}
	}
	return l.there(rng)
}

// search asks one node for words that one repository each has.
func (l *clusterLoad) search(i int, rng *rand.Rand) {
	n := l.r.nodes[i]
	a := n.asker(l.r.searcher.Secret)
	for pause(l.ctx, searchEvery) {
		if l.away[i].Load() {
			continue
		}
		word := uniqueWord(l.r.searched[rng.IntN(len(l.r.searched))])
		ctx, cancel := context.WithTimeout(l.ctx, answerWithin)
		before := l.troubled[i].Load()
		answer, err := a.search(ctx, word, "keyword", nil)
		cancel()
		if err == nil {
			err = endedEarly(answer)
		}
		troubled := before || l.troubled[i].Load()
		switch {
		case l.ctx.Err() != nil || err != nil && l.away[i].Load():
		case unavailable(err), troubled && (err != nil || len(answer.Incomplete) > 0):
			l.refused.Add(1)
		case err != nil:
			l.r.problem("%s: %v", n, err)
		case answer.Results != 1:
			l.r.problem("%s finds %s %d times, in an answer that lacks %q", n, word, answer.Results, answer.Incomplete)
		default:
			l.answered.Add(1)
		}
	}
}

// watch looks whether the stars of any repository become fewer, which no change has
// them do, and whether changes are there without those before them.
func (l *clusterLoad) watch(i int) {
	n, before := l.r.nodes[i], map[string]int{}
	for pause(l.ctx, watchEvery) {
		ctx, cancel := context.WithTimeout(l.ctx, answerWithin)
		shown, err := n.shownStars(ctx)
		cancel()
		if err != nil {
			continue // a node may be killed, or cannot tell
		}
		for name, stars := range shown {
			if stars < before[name] {
				l.r.problem("%s showed %d stars of %s, and %d later", n, before[name], name, stars)
			}
		}
		before = shown
		for _, text := range l.r.history.disorder(shown) {
			l.r.problem("%s: %s", n, text)
		}
	}
}

// shownStars are the stars of all repositories at one moment.
func (n *clusterNode) shownStars(ctx context.Context) (map[string]int, error) {
	all, err := n.repositories(ctx, "")
	stars := map[string]int{}
	for _, one := range all {
		stars[one.Name] = one.Stars
	}
	return stars, err
}
