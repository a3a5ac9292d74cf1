package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

const (
	// postTimeout bounds a request with its answer.
	postTimeout = 10 * time.Second
	// maxAnswerBytes is how much is read of an answer, and of its header.
	maxAnswerBytes = 64 << 10
)

// Payload is the JSON that a webhook receives.
type Payload struct {
	// ID is the same at each attempt to deliver the message, as is the header
	// Idempotency-Key.
	ID string `json:"id"`
	// Title and Query are those of the saved search.
	Title string `json:"title"`
	Query string `json:"query"`
	// Repository is where the matches are.
	Repository string `json:"repository"`
	// Count is the number of new matches, Matches are the first of them.
	Count   int            `json:"count"`
	Matches []PayloadMatch `json:"matches"`
	// URL is the page of the monitor, "" if the server has no external URL.
	URL string `json:"url"`
	// Found is when the matches were found, in UTC, by RFC 3339.
	Found string `json:"found"`
}

// PayloadMatch is one match of a Payload.
type PayloadMatch struct {
	Repository string `json:"repository"`
	Path       string `json:"path"`
	// Line counts from 1; 0 is none.
	Line int `json:"line"`
	// Text is the line, at most 200 characters of it, URL its page.
	Text string `json:"text"`
	URL  string `json:"url"`
}

func payload(m Message) Payload {
	p := Payload{
		ID: m.ID, Title: m.Title, Query: m.Query, Repository: m.Repository, Count: m.Count,
		Matches: make([]PayloadMatch, len(m.Matches)), URL: m.URL, Found: m.Found.UTC().Format(time.RFC3339),
	}
	for i, match := range m.Matches {
		p.Matches[i] = PayloadMatch(match)
	}
	return p
}

// post sends JSON to a webhook. A redirect is not followed: what may be connected to is
// decided for the address that the user has written.
func (s *Sender) post(ctx context.Context, kind Kind, to, id string, body any) error {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return err // of our own structs
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(text))
	if err != nil {
		return &failure{text: "that is no address of a webhook", permanent: true}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", s.agent())
	req.Header.Set("Idempotency-Key", id)
	// Messages are rare: no connection is kept. There is no proxy, as Guard judges the
	// address that is connected to.
	client := &http.Client{
		Transport: &http.Transport{
			DialContext: s.guardOf(req.URL.Hostname()).Dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxAnswerBytes,
			TLSClientConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return unreachable(name(kind), err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes)) // the status has decided
	return answered(kind, resp, answer)
}

// guardOf decides about the addresses of a host.
func (s *Sender) guardOf(host string) hosts.Guard {
	g := s.Guard
	g.PublicOnly = !slices.Contains(s.Hosts, strings.ToLower(host))
	return g
}

// agent is how this program names itself.
func (s *Sender) agent() string {
	if s.Version == "" {
		return "trawl"
	}
	return "trawl/" + s.Version
}

// name names the receiver of a kind.
func name(kind Kind) string {
	if kind == Slack {
		return "Slack"
	}
	return "the webhook"
}

// answered is the error of an answer, nil if that is success. The answer is the body of
// resp, or its beginning.
func answered(kind Kind, resp *http.Response, answer []byte) error {
	status := resp.StatusCode
	text := fmt.Sprintf("%s answered %d %s", name(kind), status, http.StatusText(status))
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return &failure{text: text + ": redirects are not followed, write the address that it leads to", permanent: true}
	case kind == Slack && slackErrors[string(bytes.TrimSpace(answer))]:
		text += ": " + string(bytes.TrimSpace(answer))
	}
	return &failure{
		text: text, permanent: status >= 400 && status < 500 && !passing(status),
		until: codehost.RetryAfter(resp.Header, time.Now()),
	}
}

// passing reports whether a status of the client's errors may be another one later.
func passing(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests
}
