package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
)

// Client calls the admin routes of one server. It is safe for concurrent use.
type Client struct {
	// Base is the server's URL, Token what opens its admin routes.
	Base, Token string
	HTTP        *http.Client
}

// Error is an answer other than the one asked for.
type Error struct {
	Status  int
	Message string
}

// Error is the server's text.
func (e *Error) Error() string { return e.Message }

// NotFound reports whether err says that there is no such repository.
func NotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// ErrCutOff is returned when an answer ends before it is complete.
var ErrCutOff = errors.New("the server ended its answer early: look at its log and try again")

// List returns all repositories.
func (c *Client) List(ctx context.Context) (out []httpapi.AdminRepository, err error) {
	err = c.call(ctx, http.MethodGet, "", "", nil, decodeInto(&out))
	return out, err
}

// Status tells how the data directory is, and the server if one has it.
func (c *Client) Status(ctx context.Context) (out httpapi.AdminStatus, err error) {
	err = c.send(ctx, http.MethodGet, httpapi.AdminStatusPath, nil, nil, decodeInto(&out))
	return out, err
}

// Add records a source as a repository and returns it. The server's directory
// is not the caller's, so a path in source must be absolute.
func (c *Client) Add(ctx context.Context, source string) (out httpapi.AdminRepository, err error) {
	err = c.call(ctx, http.MethodPost, "", "", httpapi.AdminAdd{Source: source}, decodeInto(&out))
	return out, err
}

// Remove forgets a repository.
func (c *Client) Remove(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, "", name, nil, nothing)
}

// ChangeFacts changes what is known about a repository and returns how it is
// then.
func (c *Client) ChangeFacts(ctx context.Context, name string, facts httpapi.AdminFacts) (out httpapi.AdminRepository, err error) {
	err = c.call(ctx, http.MethodPatch, "", name, facts, decodeInto(&out))
	return out, err
}

// Sync brings a repository up to its source. It calls report, which may be
// nil, from the caller's goroutine.
func (c *Client) Sync(ctx context.Context, name string, report func(httpapi.AdminProgress)) (httpapi.AdminResult, error) {
	var out httpapi.AdminResult
	err := c.call(ctx, http.MethodPost, "/sync", name, nil, func(r io.Reader) (err error) {
		out, err = readLines(r, func(l httpapi.AdminLine) error {
			if l.Progress != nil && report != nil {
				report(*l.Progress)
			}
			return nil
		})
		return err
	})
	return out, err
}

// Skipped calls each with the documents whose content is not searched.
func (c *Client) Skipped(ctx context.Context, name string, each func(httpapi.AdminSkipped) error) error {
	return c.call(ctx, http.MethodGet, "/skipped", name, nil, func(r io.Reader) error {
		_, err := readLines(r, func(l httpapi.AdminLine) error {
			if l.Skipped == nil {
				return nil
			}
			return each(*l.Skipped)
		})
		return err
	})
}

// Check has the data directory verified, and repaired if that is wanted. It calls
// report and each from the caller's goroutine.
func (c *Client) Check(ctx context.Context, quick, repair bool, report func(httpapi.AdminProgress), each func(httpapi.AdminFinding) error) error {
	parameters := url.Values{"quick": {strconv.FormatBool(quick)}, "repair": {strconv.FormatBool(repair)}}
	return c.send(ctx, http.MethodPost, httpapi.AdminCheckPath, parameters, nil, func(r io.Reader) error {
		_, err := readLines(r, func(l httpapi.AdminLine) error {
			switch {
			case l.Progress != nil:
				report(*l.Progress)
			case l.Finding != nil:
				return each(*l.Finding)
			}
			return nil
		})
		return err
	})
}

// call sends a request about the repository name, if any, and has read read
// the answer.
func (c *Client) call(ctx context.Context, method, route, name string, body any, read func(io.Reader) error) error {
	parameters := url.Values{}
	if name != "" {
		parameters.Set("name", name)
	}
	return c.send(ctx, method, httpapi.AdminPath+route, parameters, body, read)
}

// send sends a request to a path and has read read the answer.
func (c *Client) send(ctx context.Context, method, path string, parameters url.Values, body any, read func(io.Reader) error) error {
	target := c.Base + path
	if len(parameters) > 0 {
		target += "?" + parameters.Encode()
	}
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		sent = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, sent)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	req.Header.Set(httpapi.AdminTokenHeader, c.Token)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // what cannot be read says nothing
		return &Error{resp.StatusCode, strings.TrimSpace(string(text))}
	}
	return read(resp.Body)
}

// nothing reads an answer without content.
func nothing(io.Reader) error { return nil }

func decodeInto(v any) func(io.Reader) error {
	return func(r io.Reader) error {
		if err := json.NewDecoder(r).Decode(v); err != nil {
			return fmt.Errorf("decode the server's answer: %w", err)
		}
		return nil
	}
}

// readLines calls each with the lines of an answer up to the last, which says
// how it ended.
func readLines(r io.Reader, each func(httpapi.AdminLine) error) (httpapi.AdminResult, error) {
	lines := json.NewDecoder(r)
	for {
		var l httpapi.AdminLine
		if err := lines.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = ErrCutOff
			}
			return httpapi.AdminResult{}, err
		}
		switch {
		case l.Result != nil:
			return *l.Result, nil
		case l.Error != "":
			return httpapi.AdminResult{}, errors.New(l.Error)
		}
		if err := each(l); err != nil {
			return httpapi.AdminResult{}, err
		}
	}
}
