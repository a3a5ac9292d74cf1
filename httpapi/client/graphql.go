package client

import (
	"bytes"
	"context"
	"encoding/json"
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

// GraphQL sends a document to the server at baseURL. Errors that the answer tells
// of are in the answer; a *StatusError is an answer of another kind. Of p, Header
// and HTTP count.
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
	doer := p.HTTP
	if doer == nil {
		doer = http.DefaultClient
	}
	resp, err := doer.Do(req)
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
	var told struct{ Errors []struct{ Message string } }
	if err := json.Unmarshal(answer.Body, &told); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", baseURL, err)
	}
	for _, e := range told.Errors {
		answer.Errors = append(answer.Errors, e.Message)
	}
	return answer, nil
}
