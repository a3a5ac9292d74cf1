package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// check asks for what the repositories should hold, in several ways, and
// compares the answers with a plain scan of what was committed.
func (s *soaker) check(ctx context.Context) error {
	if err := s.load.judgeRepositories(ctx, s.client); err != nil {
		return err
	}
	s.report.Searches++
	token := s.load.good()
	for _, r := range s.load.repos {
		lines := 0
		pattern := regexp.MustCompile(`(?m)^some \w+ around it$`)
		for _, text := range killText(r.name, r.newest) {
			lines += len(pattern.FindAllString(text, -1))
		}
		for _, q := range []struct {
			text string
			want int
		}{
			{fmt.Sprintf(`repo:^%s$ /^some \w+ around it$/ count:all`, r.name), lines},
			{fmt.Sprintf(`repo:^%s$ "keptfirst %s %d" count:all`, r.name, r.name, r.newest), 1},
			{fmt.Sprintf(`repo:^%s$ type:path file:second count:all`, r.name), 1},
			{fmt.Sprintf(`repo:^%s$ type:symbol keptnothing`, r.name), 0},
			{fmt.Sprintf(`repo:^%s$ type:commit "version %d of" count:all timeout:60s`, r.name, r.newest), 1},
			{fmt.Sprintf(`repo:^%s$ type:diff select:commit.diff.added "keptfirst %s %d" count:all timeout:60s`, r.name, r.name, r.newest), 1},
		} {
			a := &asker{client: s.client.client, base: s.client.base, token: token}
			answer, err := a.search(ctx, q.text, "keyword", func([]byte) error { return nil })
			if err != nil {
				return err
			}
			s.report.Searches++
			if answer.Results != q.want {
				return fmt.Errorf("%s finds %d, want %d", q.text, answer.Results, q.want)
			}
		}
	}
	return s.checkGraphQL(ctx, token)
}

// checkGraphQL has the repositories counted.
func (s *soaker) checkGraphQL(ctx context.Context, token string) error {
	body, err := json.Marshal(map[string]string{"query": `{ search(query: "keptfirst count:all") { results { matchCount } } }`})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.client.base+"/.api/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "token "+token)
	resp, err := s.client.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Data struct {
			Search struct{ Results struct{ MatchCount int } }
		}
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	var told []string
	for _, e := range answer.Errors {
		told = append(told, e.Message)
	}
	s.report.Searches++
	if got := answer.Data.Search.Results.MatchCount; got != len(s.load.repos) || len(told) > 0 {
		return fmt.Errorf("GraphQL finds %d, want one in each of %d repositories; errors: %s", got, len(s.load.repos), strings.Join(told, "; "))
	}
	return nil
}
