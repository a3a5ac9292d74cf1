package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"
)

// clusterHistory is what nodes have acknowledged, and what was asked of them without
// an answer, after which both outcomes are right. It is safe for concurrent use.
type clusterHistory struct {
	mu                   sync.Mutex // guards all below
	acknowledged, unsure int
	users                map[string]bool
	stars                map[string]*clusterStars
	// clock counts what happens to stars.
	clock int64
	// words are those of commits that were synced.
	words []string
	// live and revoked are the tokens that have to be taken and to be refused.
	live, revoked []*accessToken
}

func newClusterHistory() clusterHistory {
	return clusterHistory{users: map[string]bool{}, stars: map[string]*clusterStars{}}
}

// note counts a change and reports whether it was acknowledged. mu is held.
func (h *clusterHistory) note(err error) bool {
	if err != nil {
		h.unsure++
		return false
	}
	h.acknowledged++
	return true
}

func (h *clusterHistory) counts() (acknowledged, unsure int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.acknowledged, h.unsure
}

func (h *clusterHistory) madeUser(name string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.note(err) {
		h.users[name] = true
	}
}

func (h *clusterHistory) found(word string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.note(err) {
		h.words = append(h.words, word)
	}
}

func (h *clusterHistory) madeToken(t *accessToken, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.note(err) {
		h.live = append(h.live, t)
	}
}

// takeToken takes the last token that has to be taken out of the history, to be
// revoked. It is nil if there is none.
func (h *clusterHistory) takeToken() *accessToken {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.live) == 0 {
		return nil
	}
	t := h.live[len(h.live)-1]
	h.live = h.live[:len(h.live)-1]
	return t
}

// revokedToken notes the end of a token; nothing is known of one without an answer.
func (h *clusterHistory) revokedToken(t *accessToken, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, one := range h.live {
		if one == t {
			h.live = append(h.live[:i:i], h.live[i+1:]...)
			break
		}
	}
	if h.note(err) {
		h.revoked = append(h.revoked, t)
	}
}

// judgedNewest is how many of the newest tokens and commits a judgement looks at.
const judgedNewest = 12

// judged is what a judgement compares with.
type judged struct {
	users         map[string]bool
	stars         map[string]starsBetween
	words         []string
	live, revoked []*accessToken
}

func (h *clusterHistory) toJudge() judged {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := judged{users: maps.Clone(h.users), stars: map[string]starsBetween{}, words: newest(h.words), live: newest(h.live), revoked: newest(h.revoked)}
	for name, s := range h.stars {
		out.stars[name] = s.between()
	}
	return out
}

func newest[T any](all []T) []T {
	return append([]T(nil), all[max(0, len(all)-judgedNewest):]...)
}

// currentWithin is how long nodes may take to have all versions, once there is no
// fault any more.
const currentWithin = time.Minute

// judge compares all nodes with what was acknowledged, once each has the last version.
func (r *clusterRun) judge(ctx context.Context, behind string) error {
	_, err := r.awaitAll(ctx, r.nodes, currentWithin, "the last version", func(ctx context.Context, n *clusterNode) (bool, error) {
		s, err := n.status(ctx)
		return s.Error == "" && s.Applied >= s.Head, err
	})
	if err != nil {
		return fmt.Errorf("after %s: %w", behind, err)
	}
	want := r.history.toJudge()
	for _, n := range r.nodes {
		wrong, err := want.compare(ctx, n, r.searcher.Secret)
		if err != nil {
			return fmt.Errorf("after %s: %s: %w", behind, n, err)
		}
		for _, text := range wrong {
			r.problem("after %s: %s: %s", behind, n, text)
		}
	}
	r.history.settle()
	return nil
}

// compare returns what a node lacks.
func (j judged) compare(ctx context.Context, n *clusterNode, searcher string) (wrong []string, err error) {
	var users []struct {
		Name string `json:"name"`
	}
	if err := n.call(ctx, http.MethodGet, "users", nil, nil, &users); err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, u := range users {
		there[u.Name] = true
	}
	for _, name := range sortedKeys(j.users) {
		if !there[name] {
			wrong = append(wrong, fmt.Sprintf("user %s was created and is not there", name))
		}
	}
	stars, err := n.shownStars(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(j.stars) {
		if s := j.stars[name]; stars[name] < s.acknowledged || stars[name] > s.tried {
			wrong = append(wrong, fmt.Sprintf("%s has %d stars, acknowledged are %d, asked for last %d", name, stars[name], s.acknowledged, s.tried))
		}
	}
	for _, word := range j.words {
		a, err := told(ctx, func() (Answer, error) {
			a, err := n.asker(searcher).search(ctx, word, "keyword", nil)
			return a, errors.Join(err, endedEarly(a))
		})
		if err != nil {
			return nil, err
		}
		if a.Results == 0 {
			wrong = append(wrong, fmt.Sprintf("%s was synced and is not found", word))
		}
	}
	tokens, err := j.compareTokens(ctx, n)
	return append(wrong, tokens...), err
}

func (j judged) compareTokens(ctx context.Context, n *clusterNode) (wrong []string, err error) {
	for _, t := range j.live {
		ok, takesErr := told(ctx, func() (bool, error) { return n.allows(ctx, t.Secret) })
		if err = errors.Join(err, takesErr); takesErr == nil && !ok {
			wrong = append(wrong, fmt.Sprintf("token %d was created and is refused", t.ID))
		}
	}
	for _, t := range j.revoked {
		ok, takesErr := told(ctx, func() (bool, error) { return n.allows(ctx, t.Secret) })
		if err = errors.Join(err, takesErr); ok {
			wrong = append(wrong, fmt.Sprintf("token %d was revoked and is taken", t.ID))
		}
	}
	return wrong, err
}
