package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// do runs one operation, counts it, and rests so long that the share of time in
// which something is done stays what it is to be.
func (s *soaker) do(ctx context.Context, what string, f func(context.Context) error) error {
	start := time.Now()
	if err := f(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	s.report.Done[what]++
	if s.Share <= 0 || s.Share >= 1 {
		return ctx.Err()
	}
	rest := time.Duration(float64(time.Since(start)) * (1/s.Share - 1))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(rest, 10*time.Second)):
		return nil
	}
}

// round does some of everything and measures what is left of it.
func (s *soaker) round(ctx context.Context) error {
	steps := []struct {
		what  string
		times int
		f     func(context.Context) error
	}{
		{"searches", 40, s.search},
		{"searches by GraphQL", 4, s.searchGraphQL},
		{"searches of commits", 4, s.searchCommits},
		{"searches that are left", 4, s.abandon},
		{"repositories added", 2, func(ctx context.Context) error { return s.addRepository(ctx, false) }},
		{"changes", 6, s.change},
		{"repositories removed", 1, s.remove},
		{"tokens", 3, s.tokens},
		{"backups", 1, s.backUp},
	}
	var order []int
	for i, step := range steps {
		for range step.times {
			order = append(order, i)
		}
	}
	s.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, i := range order {
		if err := s.do(ctx, steps[i].what, steps[i].f); err != nil {
			return err
		}
	}
	if err := s.do(ctx, "backups pruned and verified", s.tidyBackups); err != nil {
		return err
	}
	if s.report.Rounds%4 == 1 {
		if err := s.do(ctx, "backups restored", s.restore); err != nil {
			return err
		}
	}
	if err := s.do(ctx, "returns to the beginning", s.rewind); err != nil {
		return err
	}
	sample, err := s.settled(ctx)
	if err != nil {
		return err
	}
	s.report.Samples = append(s.report.Samples, sample)
	if (s.report.Rounds+1)%roundsPerLife == 0 {
		return s.do(ctx, "restarts", s.restart)
	}
	return nil
}

// settleAfter is when files of what was dropped are gone: some seconds after the
// drop, in which the engine waits for other changes.
const settleAfter = 13 * time.Second

// settled samples once the server has done what it does in the background.
func (s *soaker) settled(ctx context.Context) (SoakSample, error) {
	select {
	case <-ctx.Done():
		return SoakSample{}, ctx.Err()
	case <-time.After(settleAfter):
	}
	return s.sample(ctx, s.report.Rounds)
}

func (s *soaker) addRepository(ctx context.Context, base bool) error {
	r, err := s.world.add(ctx, base)
	if err != nil {
		return err
	}
	if err := s.client.call(ctx, http.MethodPost, "repositories", nil, map[string]string{"source": r.name + "=" + r.dir}, nil); err != nil {
		return err
	}
	return s.sync(ctx, r)
}

func (s *soaker) sync(ctx context.Context, r *soakRepo) error {
	return s.client.call(ctx, http.MethodPost, "repositories/sync", url.Values{"name": {r.name}}, nil, &lastLine{})
}

func (s *soaker) change(ctx context.Context) error {
	r := s.world.repos[s.rng.IntN(len(s.world.repos))]
	if err := s.world.change(ctx, r); err != nil {
		return err
	}
	return s.sync(ctx, r)
}

// remove takes away a repository that is not to stay, if there is one.
func (s *soaker) remove(ctx context.Context) error {
	i := slices.IndexFunc(s.world.repos, func(r *soakRepo) bool { return !r.base })
	if i < 0 {
		return nil
	}
	r := s.world.repos[i]
	if err := s.client.call(ctx, http.MethodDelete, "repositories", url.Values{"name": {r.name}}, nil, nil); err != nil {
		return err
	}
	return s.world.remove(r)
}

// rewind removes what was added and undoes what was changed.
func (s *soaker) rewind(ctx context.Context) error {
	for slices.ContainsFunc(s.world.repos, func(r *soakRepo) bool { return !r.base }) {
		if err := s.remove(ctx); err != nil {
			return err
		}
	}
	for _, r := range s.world.repos {
		if err := r.rewind(ctx); err != nil {
			return err
		}
		if err := s.sync(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (s *soaker) asker() *asker {
	return &asker{client: s.client.client, base: s.client.base, token: s.token}
}

// search compares an answer with a scan.
func (s *soaker) search(ctx context.Context) error {
	q := s.world.query()
	got := newFound()
	a, err := s.asker().search(ctx, q.text, "standard", got.add)
	if err != nil {
		return err
	}
	set := got.in(q.scope)
	set.Sort()
	if d := Compare(set, q.want); !d.Empty() || len(a.Incomplete) > 0 {
		return fmt.Errorf("%s %q: %d lines too many, %d missing, such as %v and %v; incomplete: %v",
			q.kind, q.text, d.Extra, d.Missing, d.ExtraAt, d.MissingAt, a.Incomplete)
	}
	return nil
}

func (s *soaker) searchGraphQL(ctx context.Context) error {
	q := s.world.query()
	body, err := json.Marshal(map[string]any{
		"query":     `query($q: String!) { search(query: $q, version: V3, patternType: standard) { results { matchCount } } }`,
		"variables": map[string]string{"q": q.text},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.client.base+"/.api/graphql", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "token "+s.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Data struct {
			Search struct {
				Results struct {
					MatchCount int `json:"matchCount"`
				} `json:"results"`
			} `json:"search"`
		} `json:"data"`
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	// A line may have several matches.
	if n := answer.Data.Search.Results.MatchCount; len(answer.Errors) > 0 || n < q.want.Len() || n > 0 && q.want.Len() == 0 {
		return fmt.Errorf("%q: %d matches for %d lines, errors %v", q.text, n, q.want.Len(), answer.Errors)
	}
	return nil
}

// searchCommits looks for messages and diffs, which are read behind a sync; what
// is found has to be right, and all there if the answer is complete.
func (s *soaker) searchCommits(ctx context.Context) error {
	r := s.world.repos[s.rng.IntN(len(s.world.repos))]
	found := 0
	a, err := s.asker().search(ctx, "count:all repo:^"+r.name+"$ type:commit of "+r.name, "keyword", func(data []byte) error {
		var matches []json.RawMessage
		err := json.Unmarshal(data, &matches)
		found += len(matches)
		return err
	})
	if err != nil {
		return err
	}
	if found > r.commits || found < r.commits && len(a.Incomplete) == 0 {
		return fmt.Errorf("%s has %d commits, %d are found; incomplete: %v", r.name, r.commits, found, a.Incomplete)
	}
	_, err = s.asker().search(ctx, "count:all type:diff "+soakWord(s.rng.IntN(soakWords)), "keyword", nil)
	return err
}

// abandon goes away in the middle of an answer.
func (s *soaker) abandon(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := s.asker().search(ctx, `count:all /\w/`, "standard", func([]byte) error {
		cancel()
		return context.Canceled
	})
	if !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the answer ended by itself: %w", err)
	}
	return nil
}

// tokens makes a token, uses it, and ends it.
func (s *soaker) tokens(ctx context.Context) error {
	var t accessToken
	err := s.client.call(ctx, http.MethodPost, "tokens", nil, map[string]any{"user": keeper, "scopes": []string{"user:all"}}, &t)
	if err != nil {
		return err
	}
	for _, good := range []bool{true, false} {
		if ok, err := s.client.allows(ctx, t.Secret); err != nil || ok != good {
			return fmt.Errorf("token is taken: %v, want %v: %w", ok, good, err)
		}
		if good {
			if err := s.client.call(ctx, http.MethodDelete, "tokens", url.Values{"id": {strconv.Itoa(int(t.ID))}}, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// trawl runs a command to its end.
func (s *soaker) trawl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.Trawl, args...)
	cmd.Dir, cmd.Env = s.Work, cleanEnv("TRAWL_DATA="+s.data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("trawl %s: %w: %s", strings.Join(args, " "), err, lastBytes(out, 1000))
	}
	return string(out), err
}

func (s *soaker) backUp(ctx context.Context) error {
	_, err := s.trawl(ctx, "backup", "create", s.backups)
	return err
}

func (s *soaker) tidyBackups(ctx context.Context) error {
	if _, err := s.trawl(ctx, "backup", "prune", s.backups, "--keep-last", "2"); err != nil {
		return err
	}
	_, err := s.trawl(ctx, "backup", "verify", s.backups)
	return err
}

// restore makes a backup now, restores it into a directory, checks it, and
// searches it.
func (s *soaker) restore(ctx context.Context) error {
	dir := filepath.Join(s.Work, "restored")
	if err := s.backUp(ctx); err != nil {
		return err
	}
	_, err := s.trawl(ctx, "backup", "restore", s.backups, "--data", dir)
	if err == nil {
		_, err = s.trawl(ctx, "check", "--data", dir)
	}
	if err != nil {
		return err
	}
	word := soakWord(s.rng.IntN(soakWords))
	want := s.world.scan(func(line string) bool { return strings.Contains(strings.ToLower(line), word) })
	out, err := s.trawl(ctx, "search", "--data", dir, "count:all type:file "+word)
	if want.Len() == 0 {
		err = nil // it ends with 1, as grep does
	}
	if n := strings.Count(out, "\n"); err == nil && want.Len() > 0 && n < want.Len() {
		err = fmt.Errorf("a restored directory has %d lines for %s, want %d: %.500s", n, word, want.Len(), out)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// restart ends the server, in good order or not, and starts the next.
func (s *soaker) restart(ctx context.Context) error {
	end := s.server.stop
	if s.life%2 == 0 {
		end = s.server.kill
	}
	if err := end(); err != nil {
		return err
	}
	s.server = nil
	return s.start(ctx)
}
