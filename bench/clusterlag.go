package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// seenWithin bounds the wait for a change on other nodes.
const seenWithin = time.Minute

// changes times small changes, from their acknowledgement by one node until all
// others show them.
func (r *clusterRun) changes(ctx context.Context) error {
	r.Note(fmt.Sprintf("timing %d small changes", r.Changes))
	var took []time.Duration
	for i := range r.Changes {
		name := r.fleet.repository(i % r.Repositories).name
		stars := r.history.askStars(name)
		n := r.nodes[i%r.Nodes]
		if err := n.setStars(ctx, name, stars); err != nil {
			return err
		}
		r.history.starred(name, nil, false)
		d, err := r.awaitAll(ctx, r.others(n), seenWithin, "a change", func(ctx context.Context, n *clusterNode) (bool, error) {
			all, err := n.repositories(ctx, name)
			return len(all) == 1 && all[0].Stars == stars, err
		})
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	r.report.Visible = percentiles(took)
	return nil
}

// addCommit makes a commit in a repository that is searched, and returns its name
// and the word that the commit adds.
func (r *clusterRun) addCommit(ctx context.Context, rng *rand.Rand) (name, word string, err error) {
	r.committing.Lock()
	defer r.committing.Unlock()
	one := r.fleet.repository(r.fleet.forked(rng.IntN(r.Repositories)))
	n := r.commits
	r.commits++
	return one.name, addedWord(n), r.fleet.addCommit(ctx, one, n)
}

// follow times commits, from when one node says that it has synced one until a
// search on each finds it.
func (r *clusterRun) follow(ctx context.Context) error {
	r.Note(fmt.Sprintf("timing %d commits", r.Commits))
	var behind, all []time.Duration
	for i := range r.Commits {
		name, word, err := r.addCommit(ctx, r.rng)
		if err != nil {
			return err
		}
		start := time.Now()
		if err := r.nodes[i%r.Nodes].sync(ctx, name); err != nil {
			return err
		}
		r.history.found(word, nil)
		d, err := r.awaitAll(ctx, r.nodes, seenWithin, word, func(ctx context.Context, n *clusterNode) (bool, error) {
			return n.finds(ctx, r.searcher.Secret, word)
		})
		if err != nil {
			return err
		}
		behind, all = append(behind, d), append(all, time.Since(start))
	}
	r.report.Found, r.report.FoundSinceAsked = percentiles(behind), percentiles(all)
	return nil
}

// revoke times the end of tokens.
func (r *clusterRun) revoke(ctx context.Context) error {
	r.Note(fmt.Sprintf("revoking %d tokens", r.Tokens))
	var took []time.Duration
	for i := range r.Tokens {
		n := r.nodes[i%r.Nodes]
		t, err := r.tokenEverywhere(ctx, n)
		if err != nil {
			return err
		}
		if err := n.revoke(ctx, t); err != nil {
			return err
		}
		r.history.revokedToken(t, nil)
		d, err := r.refused(ctx, r.nodes, t)
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	r.report.Revoked = percentiles(took)
	return nil
}

// tokenEverywhere makes a token that all nodes take. It is not in the history, so that
// no change beside ends it.
func (r *clusterRun) tokenEverywhere(ctx context.Context, n *clusterNode) (*accessToken, error) {
	t, err := n.createToken(ctx)
	if err != nil {
		return nil, err
	}
	_, err = r.awaitAll(ctx, r.nodes, seenWithin, "a token", func(ctx context.Context, n *clusterNode) (bool, error) { return n.takes(ctx, t) })
	return t, err
}

// refused polls nodes until each refuses a token that was just revoked. One that was
// taken too long behind is a problem.
func (r *clusterRun) refused(ctx context.Context, nodes []*clusterNode, t *accessToken) (time.Duration, error) {
	start := time.Now()
	return r.awaitAll(ctx, nodes, seenWithin, "the end of a token", func(ctx context.Context, n *clusterNode) (bool, error) {
		asked := time.Since(start)
		ok, err := n.takes(ctx, t)
		if ok && asked > mostRevoked {
			r.problem("%s took token %d when asked %s after it was revoked", n, t.ID, showDuration(asked))
			return true, nil
		}
		return !ok, err
	})
}
