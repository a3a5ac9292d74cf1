package bench

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"time"
)

// bystanderName is the name of a small repository that is synced while the server
// is attacked.
const bystanderName = "bystander"

// syncEvery is the time between the end of a sync and the next.
const syncEvery = 200 * time.Millisecond

// addBystander has the server index a small repository, and returns what removes
// it again.
func (a *assault) addBystander(ctx context.Context) (remove func() error, err error) {
	dir := filepath.Join(a.Work, bystanderName+".git")
	if _, err := (gitRepo{}).run(ctx, "init", "-q", "--bare", "-b", "main", dir); err != nil {
		return nil, err
	}
	git := gitRepo{dir: dir}
	tree, err := git.feed(ctx, []byte{}, "mktree")
	if err != nil {
		return nil, err
	}
	commit, err := git.run(ctx, "commit-tree", "-m", "nothing yet", tree)
	if err != nil {
		return nil, err
	}
	if _, err := git.run(ctx, "update-ref", "refs/heads/main", commit); err != nil {
		return nil, err
	}
	if err := a.operator.call(ctx, http.MethodPost, "repositories", nil, map[string]string{"source": bystanderName + "=" + dir}, nil); err != nil {
		return nil, err
	}
	return func() error {
		return a.operator.call(context.WithoutCancel(ctx), http.MethodDelete, "repositories", url.Values{"name": {bystanderName}}, nil, nil)
	}, nil
}

// sync has the small repository synced, and returns how long that took.
func (a *assault) sync() (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	start := time.Now()
	err := a.operator.call(ctx, http.MethodPost, "repositories/sync", url.Values{"name": {bystanderName}}, nil, &lastLine{})
	return time.Since(start), err
}
