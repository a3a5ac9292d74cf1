package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Document is a GraphQL request.
type Document struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName,omitempty"`
	Variables     map[string]any `json:"variables,omitempty"`
}

// GraphQLAnswer is the answer to a Document.
type GraphQLAnswer struct {
	// Body is all of the answer, as JSON.
	Body []byte
	// Errors are the messages of its errors.
	Errors []string
	// Header is that of the answer; X-Trace is in it.
	Header http.Header
}

// GraphQL sends a document to the server at baseURL. Errors of GraphQL are in
// the answer; a *StatusError is an answer of another kind. Only Header and HTTP
// of p are used.
func GraphQL(ctx context.Context, baseURL string, p Params, d Document) (*GraphQLAnswer, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode GraphQL request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(baseURL, "/")+"/.api/graphql", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %q: %w", baseURL, err)
	}
	for name, values := range p.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := keepingMethod(p.HTTP).Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", baseURL, err)
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return nil, newStatusError(resp)
	}
	answer := &GraphQLAnswer{Header: resp.Header}
	if answer.Body, err = io.ReadAll(resp.Body); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", baseURL, err)
	}
	var parts struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal(answer.Body, &parts); err != nil || parts.Data == nil && len(parts.Errors) == 0 {
		return nil, fmt.Errorf("what %s sent is no answer to a GraphQL document: is it the address of a server?", baseURL)
	}
	for _, e := range parts.Errors {
		answer.Errors = append(answer.Errors, e.Message)
	}
	return answer, nil
}

// keepingMethod returns c, or the default client, such that a redirect that would
// ask without the document is an error.
func keepingMethod(c *http.Client) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	kept, follow := *c, c.CheckRedirect
	kept.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case req.Method != via[0].Method:
			return fmt.Errorf("redirected to %s in a way that leaves out the document: ask there", req.URL)
		case follow != nil:
			return follow(req, via)
		case len(via) >= 10: // as many as net/http follows
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}
	return &kept
}
