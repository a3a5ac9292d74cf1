package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Trace is a server's record of the work for one search.
type Trace struct {
	Steps    []TraceStep `json:"steps"`
	Coverage []Coverage  `json:"coverage"`
	// Rest is nil when Coverage is of all repositories searched.
	Rest *struct {
		Repositories int `json:"repositories"`
		Documents    int `json:"documents"`
		Unsearchable int `json:"unsearchable"`
	} `json:"rest"`
}

// TraceStep is one piece of work; times are in microseconds from the start of
// the search.
type TraceStep struct {
	Name   string         `json:"name"`
	Start  int64          `json:"start_us"`
	Took   int64          `json:"took_us"`
	Fields map[string]any `json:"fields"`
}

// Coverage counts the searched documents of one repository at one revision.
// Candidates and Verified are nil for a user who may not see them.
type Coverage struct {
	Repository string `json:"repository"`
	Revision   string `json:"revision"`
	Commit     string `json:"commit"`
	// Commits says that the numbers are of commits.
	Commits    bool `json:"commits"`
	Documents  int  `json:"documents"`
	Candidates *int `json:"candidates"`
	Verified   *int `json:"verified"`
	Unsearched []struct {
		Reason string `json:"reason"`
		// Documents is 0 when it is not known.
		Documents int `json:"documents"`
	} `json:"unsearched"`
}

// maxTraceBytes bounds what is read of a trace.
const maxTraceBytes = 16 << 20

// ReadTrace asks the server at baseURL for the trace behind the link that its
// progress gave, with the headers of p. A link to elsewhere is refused: the
// credentials in p are for that server only.
func ReadTrace(ctx context.Context, baseURL, link string, p Params) (*Trace, error) {
	base, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	target, err := url.Parse(link)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	if target.Scheme != base.Scheme || target.Host != base.Host {
		return nil, fmt.Errorf("read trace: %s is not at %s", link, baseURL)
	}
	target.RawQuery = url.Values{"format": {"json"}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	for name, values := range p.Header {
		req.Header[name] = values
	}
	doer := p.HTTP
	if doer == nil {
		doer = http.DefaultClient
	}
	resp, err := doer.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read trace: %w", newStatusError(resp))
	}
	var out Trace
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxTraceBytes)).Decode(&out); err != nil {
		return nil, fmt.Errorf("read trace: decode: %w", err)
	}
	return &out, nil
}
