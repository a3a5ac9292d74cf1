package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
)

// killLoad changes repositories and accounts, and remembers what the server
// acknowledged.
type killLoad struct {
	dir   string
	repos []*killRepo
	// gone are some of the repositories that were removed.
	gone   []*killRepo
	made   int // names given out
	users  map[string]bool
	tokens []*accessToken
	// acknowledged counts changes, unsure those that a kill cut off.
	acknowledged, unsure int
}

// accessToken is an access token. begun says that its end was asked for without
// an answer.
type accessToken struct {
	ID      uint32 `json:"id"`
	Secret  string `json:"secret"`
	revoked bool
	begun   bool
}

// keeper is the user that searches, and has all tokens.
const keeper = "keeper"

// note counts a change and reports whether it was acknowledged. The error is
// that of a living server.
func (l *killLoad) note(err error) (acknowledged bool, refused error) {
	switch {
	case err == nil:
		l.acknowledged++
		return true, nil
	case errors.Is(err, errRefused):
		return false, err
	}
	l.unsure++
	return false, nil
}

// begin makes the first user and token.
func (l *killLoad) begin(ctx context.Context, c *operatorClient) error {
	err := c.call(ctx, http.MethodPost, "users", nil, map[string]any{"name": keeper, "siteAdmin": true}, nil)
	if err != nil {
		return err
	}
	l.users = map[string]bool{keeper: true}
	return l.addToken(ctx, c)
}

func (l *killLoad) addToken(ctx context.Context, c *operatorClient) error {
	t := &accessToken{}
	err := c.call(ctx, http.MethodPost, "tokens", nil, map[string]any{"user": keeper, "scopes": []string{"user:all"}, "forever": false}, t)
	ok, refused := l.note(err)
	if ok {
		l.tokens = append(l.tokens, t)
	}
	return errors.Join(refused, l.cut(err))
}

// errCut says that the server was killed over a change.
var errCut = errors.New("cut off")

func (l *killLoad) cut(err error) error {
	if err != nil && !errors.Is(err, errRefused) {
		return errCut
	}
	return nil
}

// changeAccounts makes and ends users and tokens until the server is gone. The
// first token stays.
func (l *killLoad) changeAccounts(ctx context.Context, c *operatorClient, rng *rand.Rand) error {
	for {
		var err error
		switch {
		case rng.IntN(3) == 0:
			err = l.addUser(ctx, c)
		case len(l.tokens) > 10 || len(l.tokens) > 2 && rng.IntN(2) == 0:
			err = l.revoke(ctx, c, l.tokens[1+rng.IntN(len(l.tokens)-1)])
		default:
			err = l.addToken(ctx, c)
		}
		if err != nil {
			return err
		}
	}
}

func (l *killLoad) addUser(ctx context.Context, c *operatorClient) error {
	l.made++
	name := "user" + strconv.Itoa(l.made)
	err := c.call(ctx, http.MethodPost, "users", nil, map[string]any{"name": name}, nil)
	ok, refused := l.note(err)
	if ok {
		l.users[name] = true
	}
	return errors.Join(refused, l.cut(err))
}

func (l *killLoad) revoke(ctx context.Context, c *operatorClient, t *accessToken) error {
	if t.revoked {
		return nil
	}
	err := c.call(ctx, http.MethodDelete, "tokens", url.Values{"id": {strconv.Itoa(int(t.ID))}}, nil, nil)
	ok, refused := l.note(err)
	t.revoked, t.begun = ok, !ok
	return errors.Join(refused, l.cut(err))
}

// killRepos is how many repositories there are at most at once.
const killRepos = 6

// changeRepositories adds, changes and removes repositories until the server is
// gone.
func (l *killLoad) changeRepositories(ctx context.Context, c *operatorClient, rng *rand.Rand) error {
	for n := 0; ; n++ {
		var err error
		switch {
		case len(l.repos) < killRepos/2 || len(l.repos) < killRepos && rng.IntN(4) == 0:
			err = l.addRepository(ctx, c, fmt.Sprintf("repo%d-%d", l.acknowledged, rng.IntN(1000)))
		case rng.IntN(6) == 0:
			err = l.removeRepository(ctx, c, rng.IntN(len(l.repos)))
		default:
			err = l.change(ctx, c, l.repos[rng.IntN(len(l.repos))])
		}
		if err != nil {
			return err
		}
	}
}

func (l *killLoad) addRepository(ctx context.Context, c *operatorClient, name string) error {
	r, err := newKillRepo(ctx, l.dir, name)
	if err != nil {
		return err
	}
	if err := r.commit(ctx); err != nil {
		return err
	}
	l.repos = append(l.repos, r)
	err = c.call(ctx, http.MethodPost, "repositories", nil, map[string]string{"source": r.name + "=" + r.dir}, nil)
	ok, refused := l.note(err)
	r.added, r.begun = ok, !ok
	if err := errors.Join(refused, l.cut(err)); err != nil {
		return err
	}
	return l.sync(ctx, c, r)
}

func (l *killLoad) change(ctx context.Context, c *operatorClient, r *killRepo) error {
	if err := r.commit(ctx); err != nil {
		return err
	}
	return l.sync(ctx, c, r)
}

func (l *killLoad) sync(ctx context.Context, c *operatorClient, r *killRepo) error {
	err := c.call(ctx, http.MethodPost, "repositories/sync", url.Values{"name": {r.name}}, nil, &lastLine{})
	ok, refused := l.note(err)
	if ok {
		r.synced = r.newest
	}
	return errors.Join(refused, l.cut(err))
}

func (l *killLoad) removeRepository(ctx context.Context, c *operatorClient, i int) error {
	r := l.repos[i]
	err := c.call(ctx, http.MethodDelete, "repositories", url.Values{"name": {r.name}}, nil, nil)
	ok, refused := l.note(err)
	r.removed, r.begun = ok, !ok
	return errors.Join(refused, l.cut(err), l.bury())
}

// bury moves what was removed among the gone, of which the last are kept.
func (l *killLoad) bury() error {
	var left []*killRepo
	var err error
	for _, r := range l.repos {
		if !r.removed {
			left = append(left, r)
			continue
		}
		l.gone = append(l.gone, r)
		err = errors.Join(err, r.gone())
	}
	l.repos = left
	l.gone = l.gone[max(0, len(l.gone)-20):]
	return err
}

// search asks for everything until the server is gone. Only a search after a
// restart is judged, since a running one is between changes.
func (l *killLoad) search(ctx context.Context, c *operatorClient, token string) error {
	for {
		if _, err := c.versions(ctx, token); err != nil {
			return l.cut(err)
		}
	}
}
