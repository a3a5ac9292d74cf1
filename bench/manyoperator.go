package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"time"
)

// asOperator times what an operator asks for that shows all repositories.
func (m *manyRun) asOperator(ctx context.Context, s *manyServer) error {
	m.Note("asking as an operator")
	for _, asked := range []struct {
		name string
		ask  func() (int, error)
	}{
		{"metrics", func() (int, error) {
			text, err := fetch(ctx, &s.operator.client, s.metrics)
			return len(text), err
		}},
		{"status", func() (int, error) { return s.operator.size(ctx, "status") }},
		{"list of repositories", func() (int, error) { return s.operator.size(ctx, "repositories") }},
		{"trawl status", func() (int, error) { return m.command(ctx, "status") }},
		{"trawl repo list", func() (int, error) { return m.command(ctx, "repo", "list") }},
	} {
		facts := ManyAsked{Name: asked.name}
		for run := range m.Runs + 1 {
			start := time.Now()
			n, err := asked.ask()
			if err != nil {
				return fmt.Errorf("%s: %w", asked.name, err)
			}
			if facts.Bytes = n; run > 0 {
				facts.Took = append(facts.Took, time.Since(start))
			}
		}
		m.report.Operator = append(m.report.Operator, facts)
	}
	return nil
}

// size asks for something and returns the size of the answer.
func (c *operatorClient) size(ctx context.Context, path string) (int, error) {
	var out json.RawMessage
	err := c.call(ctx, http.MethodGet, path, url.Values{}, nil, &out)
	return len(out), err
}

// command runs a command beside the server and returns the size of what it
// prints. The exit status of trawl status is 1 when a repository needs
// attention.
func (m *manyRun) command(ctx context.Context, args ...string) (int, error) {
	cmd := exec.CommandContext(ctx, m.Trawl, append(args, "--data", m.serveDir())...)
	cmd.Env = m.trawl.env()
	out, err := cmd.Output()
	if len(out) > 0 && cmd.ProcessState.ExitCode() == 1 {
		err = nil
	}
	return len(out), withStderr(err)
}
