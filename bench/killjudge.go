package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
)

// judge compares a server with what was acknowledged of those before, and
// settles what was open.
func (l *killLoad) judge(ctx context.Context, c *operatorClient, rng *rand.Rand) error {
	err := l.judgeAccounts(ctx, c, rng)
	if err != nil {
		return err
	}
	return l.judgeRepositories(ctx, c)
}

func (l *killLoad) judgeRepositories(ctx context.Context, c *operatorClient) error {
	var listed []struct {
		Name string `json:"name"`
	}
	if err := c.call(ctx, http.MethodGet, "repositories", nil, nil, &listed); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, r := range listed {
		names[r.Name] = true
	}
	found := killFound{}
	if len(listed) > 0 { // else there is an alert
		var err error
		if found, err = c.versions(ctx, l.good()); err != nil {
			return err
		}
	}
	known := map[string]bool{}
	var wrong []error
	for _, r := range slices.Concat(l.repos, l.gone) {
		known[r.name] = true
		wrong = append(wrong, r.judge(names[r.name], found[[2]string{r.name, "keptfirst"}], found[[2]string{r.name, "keptsecond"}]))
		if r.begun {
			r.added, r.removed, r.begun = names[r.name], !names[r.name], false
		}
	}
	for name := range names {
		if !known[name] {
			wrong = append(wrong, fmt.Errorf("%s is there, but was never added", name))
		}
	}
	for key := range found {
		if !known[key[0]] {
			wrong = append(wrong, fmt.Errorf("%s is found, but was never added", key[0]))
		}
	}
	return errors.Join(append(wrong, l.bury())...)
}

// good returns a token that has to be taken.
func (l *killLoad) good() string {
	for _, t := range l.tokens {
		if !t.revoked && !t.begun {
			return t.Secret
		}
	}
	return ""
}

// tokensTried is how many tokens of each kind are tried after a restart.
const tokensTried = 3

func (l *killLoad) judgeAccounts(ctx context.Context, c *operatorClient, rng *rand.Rand) error {
	var users []struct {
		Name string `json:"name"`
	}
	if err := c.call(ctx, http.MethodGet, "users", nil, nil, &users); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, u := range users {
		if there[u.Name] {
			return fmt.Errorf("there are two users %s", u.Name)
		}
		there[u.Name] = true
	}
	for name := range l.users {
		if !there[name] {
			return fmt.Errorf("user %s was created and is not there", name)
		}
	}
	var tokens []accessToken
	if err := c.call(ctx, http.MethodGet, "tokens", url.Values{"user": {keeper}}, nil, &tokens); err != nil {
		return err
	}
	ids := map[uint32]bool{}
	for _, t := range tokens {
		ids[t.ID] = true
	}
	for _, t := range l.tokens {
		switch {
		case t.begun:
			t.revoked, t.begun = !ids[t.ID], false
		case t.revoked && ids[t.ID]:
			return fmt.Errorf("token %d was revoked and is there", t.ID)
		case !t.revoked && !ids[t.ID]:
			return fmt.Errorf("token %d was created and is not there", t.ID)
		}
	}
	return l.tryTokens(ctx, c, rng)
}

// tryTokens uses the newest tokens and some others, and forgets those that have
// ended.
func (l *killLoad) tryTokens(ctx context.Context, c *operatorClient, rng *rand.Rand) error {
	var left []*accessToken
	tried := 0
	for i, t := range slices.Backward(l.tokens) {
		if len(l.tokens)-i > tokensTried && tried > 2*tokensTried && rng.IntN(4) > 0 {
			continue
		}
		tried++
		ok, err := c.allows(ctx, t.Secret)
		if err != nil {
			return err
		}
		if ok == t.revoked {
			return fmt.Errorf("token %d is taken: %v, revoked: %v", t.ID, ok, t.revoked)
		}
	}
	for _, t := range l.tokens {
		if !t.revoked {
			left = append(left, t)
		}
	}
	l.tokens = left
	return nil
}
