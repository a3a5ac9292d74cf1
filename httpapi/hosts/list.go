package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/span"
)

const (
	// listTimeout is how long a service may take to answer, maxListBytes how
	// much it may answer.
	listTimeout  = time.Minute
	maxListBytes = 16 << 20
)

// Sources returns the repositories of a service. The second result describes
// those that cannot be taken.
func (c *Config) Sources(ctx context.Context, guard Guard) ([]ingest.Source, []string, error) {
	if !c.Asked {
		out := make([]ingest.Source, 0, len(c.Repos))
		for _, repo := range c.Repos {
			src, err := c.source(repo, "")
			if err != nil {
				return nil, nil, err
			}
			out = append(out, src)
		}
		return out, nil, nil
	}
	return c.ask(ctx, guard)
}

// listed is the answer of a service.
type listed struct {
	Items []struct{ Name, URI, ClonePath string }
}

// ask asks the service.
func (c *Config) ask(ctx context.Context, guard Guard) ([]ingest.Source, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	answer, err := c.get(ctx, guard)
	if err != nil {
		return nil, nil, fmt.Errorf("ask %s: %w", redact.URL(c.URL.String()), err)
	}
	var out []ingest.Source
	var left []string
	for _, item := range answer.Items {
		name := strings.Trim(cmp.Or(item.Name, item.URI), "/")
		src, err := c.source(item.ClonePath, name)
		if err != nil {
			left = append(left, err.Error())
			continue
		}
		out = append(out, src)
	}
	return out, left, nil
}

func (c *Config) get(ctx context.Context, guard Guard) (*listed, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL.JoinPath("v1/list-repos").String(), nil)
	if err != nil {
		return nil, errors.New("its address does not parse")
	}
	if parent := span.Parent(ctx); parent != "" {
		req.Header.Set("traceparent", parent)
	}
	transport := &http.Transport{DialContext: guard.Dial, DisableKeepAlives: true, ResponseHeaderTimeout: listTimeout}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("too many redirects")
		}
		_, err := parseURL(req.URL.String())
		return err
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s", resp.Status)
	}
	var out listed
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxListBytes)).Decode(&out); err != nil {
		return nil, errors.New("it answered with something other than a list of repositories")
	}
	if len(out.Items) > maxRepositories {
		return nil, fmt.Errorf("it has more than %d repositories", maxRepositories)
	}
	return &out, nil
}
