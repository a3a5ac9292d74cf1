package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

// Work is how much reading a search did, from its trace. A count that the
// server does not report is 0.
type Work struct {
	Lists      int64 `json:"lists"`
	Candidates int64 `json:"candidates"`
	Blocks     int64 `json:"blocks"`
	Bytes      int64 `json:"bytes"`
}

// work fetches the trace at link and sums its steps. No link means no work known.
func (a *asker) work(ctx context.Context, link string) (Work, error) {
	if link == "" {
		return Work{}, nil
	}
	u, err := url.Parse(link)
	if err != nil {
		return Work{}, fmt.Errorf("trace link %q: %w", link, err)
	}
	// The link names the server as its users see it; we know it by its port.
	u.Scheme, u.Host = "", ""
	params := u.Query()
	params.Set("format", "json")
	u.RawQuery = params.Encode()
	resp, err := a.get(ctx, a.base+u.RequestURI())
	if err != nil {
		return Work{}, err
	}
	defer resp.Body.Close()
	var trace struct {
		Steps []struct {
			Fields map[string]any `json:"fields"`
		} `json:"steps"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&trace); err != nil {
		return Work{}, fmt.Errorf("decode trace %s: %w", link, err)
	}
	var w Work
	for _, step := range trace.Steps {
		w.add(step.Fields)
	}
	return w, nil
}

// add counts the fields of one step; other fields may hold anything.
func (w *Work) add(fields map[string]any) {
	for name, sum := range map[string]*int64{
		"lists": &w.Lists, "candidates": &w.Candidates, "blocks": &w.Blocks, "bytes": &w.Bytes,
	} {
		if n, ok := fields[name].(float64); ok {
			*sum += int64(n)
		}
	}
}
