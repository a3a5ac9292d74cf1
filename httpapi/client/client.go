package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Params are the parameters of a stream. The zero value of a field leaves the
// server's default.
type Params struct {
	Query string
	// Version and PatternType are v and t.
	Version, PatternType string
	// Display is the most results sent; 0 asks for statistics only.
	Display *int
	// MaxLineBytes cuts lines of chunks.
	MaxLineBytes int
	// Chunks asks for chunks rather than lines, with ContextLines around.
	Chunks       bool
	ContextLines *int
	// Header is added to the request, such as an Authorization.
	Header http.Header
	// HTTP sends the request; nil is http.DefaultClient. Its Timeout, if any,
	// bounds the whole stream.
	HTTP *http.Client
}

// Handler is called with the events of a stream, in their order and from one
// goroutine. Functions that are nil are not called, and what only they would
// see is not decoded. An error that one returns ends the stream.
type Handler struct {
	// Open is called when the answer begins; X-Trace is in its header.
	Open func(http.Header) error
	// Event is called with every event as it was sent, known or not, before
	// any other function. It may not keep data.
	Event    func(name string, data []byte) error
	Matches  func([]Match) error
	Progress func(Progress) error
	Filters  func([]Filter) error
	Alert    func(Alert) error
}

// StatusError is an answer that is not a stream.
type StatusError struct {
	Status int
	// Message is the start of the answer's text.
	Message string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("server answered %d: %s", e.Status, e.Message)
}

// ServerError is the error event of a stream.
type ServerError struct{ Message string }

func (e *ServerError) Error() string { return e.Message }

// ErrCutOff is returned when a stream ends without its done event.
var ErrCutOff = errors.New("the stream ended before it was done")

// Stream asks the server at baseURL for a search and calls h with its events.
// It returns nil after the done event of a stream without an error event.
func Stream(ctx context.Context, baseURL string, p Params, h Handler) error {
	target := strings.TrimSuffix(baseURL, "/") + "/.api/search/stream?" + p.values().Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return fmt.Errorf("search at %q: %w", baseURL, err)
	}
	for name, values := range p.Header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "text/event-stream")
	doer := p.HTTP
	if doer == nil {
		doer = http.DefaultClient
	}
	resp, err := doer.Do(req)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return newStatusError(resp)
	}
	if h.Open != nil {
		if err := h.Open(resp.Header); err != nil {
			return err
		}
	}
	return h.read(resp.Body)
}

func (p Params) values() url.Values {
	v := url.Values{"q": {p.Query}}
	set := func(name, value string, when bool) {
		if when {
			v.Set(name, value)
		}
	}
	number := func(name string, n *int) {
		if n != nil {
			v.Set(name, strconv.Itoa(*n))
		}
	}
	set("v", p.Version, p.Version != "")
	set("t", p.PatternType, p.PatternType != "")
	set("cm", "true", p.Chunks)
	set("max-line-len", strconv.Itoa(p.MaxLineBytes), p.MaxLineBytes > 0)
	number("display", p.Display)
	number("cl", p.ContextLines)
	return v
}

// newStatusError reads as much of an answer as a person may want to see.
func newStatusError(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // what cannot be read says nothing
	return &StatusError{resp.StatusCode, strings.TrimSpace(string(text))}
}

// read calls h with the events of a stream up to done.
func (h Handler) read(r io.Reader) error {
	events := newEventReader(r)
	var failed error
	for {
		name, data, err := events.next()
		if errors.Is(err, io.EOF) {
			return errors.Join(failed, ErrCutOff)
		}
		if err != nil {
			return fmt.Errorf("read stream: %w", err)
		}
		if h.Event != nil {
			if err := h.Event(name, data); err != nil {
				return err
			}
		}
		switch name {
		case "done":
			return failed
		case "error":
			failed = decodeError(data)
		default:
			if err := h.handle(name, data); err != nil {
				return err
			}
		}
	}
}

func (h Handler) handle(name string, data []byte) error {
	switch name {
	case "matches":
		return decodeMatches(data, h.Matches)
	case "progress":
		return decode(name, data, h.Progress)
	case "filters":
		return decode(name, data, h.Filters)
	case "alert":
		return decode(name, data, h.Alert)
	}
	return nil
}

// decode calls f, if there is one, with what data holds.
func decode[T any](name string, data []byte, f func(T) error) error {
	if f == nil {
		return nil
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("decode %s event: %w", name, err)
	}
	return f(v)
}

func decodeMatches(data []byte, f func([]Match) error) error {
	if f == nil {
		return nil
	}
	return decode("matches", data, func(raws []json.RawMessage) error {
		matches := make([]Match, len(raws))
		for i, raw := range raws {
			if err := json.Unmarshal(raw, &matches[i]); err != nil {
				return fmt.Errorf("decode match %s: %w", raw, err)
			}
			matches[i].Raw = raw
		}
		return f(matches)
	})
}

func decodeError(data []byte) error {
	var e struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("decode error event: %w", err)
	}
	return &ServerError{e.Message}
}
