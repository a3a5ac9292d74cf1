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

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
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

// Call sends a request of an operation with what In holds and parameters as name,
// value, and returns the answer. Parameters without a value are left out.
func Call[In, Out any](ctx context.Context, c *Client, op admin.Operation[In, Out], in In, parameters ...string) (out Out, err error) {
	err = send(ctx, c, op, in, parameters, func(r io.Reader) error {
		if _, none := any(out).(admin.None); none {
			return nil
		}
		if err := json.NewDecoder(r).Decode(&out); err != nil {
			return fmt.Errorf("decode the server's answer: %w", err)
		}
		return nil
	})
	return out, err
}

// Do is Call for what has no body and no answer.
func Do(ctx context.Context, c *Client, op admin.Operation[admin.None, admin.None], parameters ...string) error {
	_, err := Call(ctx, c, op, admin.None{}, parameters...)
	return err
}

// Get is Call for what has no body.
func Get[Out any](ctx context.Context, c *Client, op admin.Operation[admin.None, Out], parameters ...string) (Out, error) {
	return Call(ctx, c, op, admin.None{}, parameters...)
}

// Stream is Call for an answer of lines. It calls each from the caller's goroutine
// with those up to the last, which says how the operation ended.
func Stream[In any](ctx context.Context, c *Client, op admin.Operation[In, admin.Lines], in In, each func(admin.Line) error, parameters ...string) (res admin.Result, err error) {
	err = send(ctx, c, op, in, parameters, func(r io.Reader) (err error) {
		res, err = readLines(r, each)
		return err
	})
	return res, err
}

// Sync brings a repository up to its source. It calls report, which may be
// nil, from the caller's goroutine.
func (c *Client) Sync(ctx context.Context, name string, report func(admin.Progress)) (admin.Result, error) {
	return c.sync(ctx, admin.SyncRepository, name, report)
}

// Reindex is Sync that reads all of the repository again.
func (c *Client) Reindex(ctx context.Context, name string, report func(admin.Progress)) (admin.Result, error) {
	return c.sync(ctx, admin.Reindex, name, report)
}

func (c *Client) sync(ctx context.Context, op admin.Operation[admin.None, admin.Lines], name string, report func(admin.Progress)) (admin.Result, error) {
	return Stream(ctx, c, op, admin.None{}, func(l admin.Line) error {
		if l.Progress != nil && report != nil {
			report(*l.Progress)
		}
		return nil
	}, "name", name)
}

// Skipped calls each with the documents whose content is not searched.
func (c *Client) Skipped(ctx context.Context, name string, each func(admin.Skipped) error) error {
	_, err := Stream(ctx, c, admin.ListSkipped, admin.None{}, func(l admin.Line) error {
		if l.Skipped == nil {
			return nil
		}
		return each(*l.Skipped)
	}, "name", name)
	return err
}

// Backup makes a backup of the server's data directory. It calls report from
// the caller's goroutine.
func (c *Client) Backup(ctx context.Context, ask admin.Backup, report func(admin.Progress)) (admin.BackupResult, error) {
	res, err := Stream(ctx, c, admin.MakeBackup, ask, func(l admin.Line) error {
		if l.Progress != nil {
			report(*l.Progress)
		}
		return nil
	})
	if err != nil || res.Backup == nil {
		return admin.BackupResult{}, err
	}
	return *res.Backup, nil
}

// Check has the data directory verified, and repaired if that is wanted. It calls
// report and each from the caller's goroutine.
func (c *Client) Check(ctx context.Context, quick, repair bool, report func(admin.Progress), each func(admin.Finding) error) error {
	_, err := Stream(ctx, c, admin.CheckData, admin.None{}, func(l admin.Line) error {
		switch {
		case l.Progress != nil:
			report(*l.Progress)
		case l.Finding != nil:
			return each(*l.Finding)
		}
		return nil
	}, "quick", strconv.FormatBool(quick), "repair", strconv.FormatBool(repair))
	return err
}

// send sends a request and has read read the answer.
func send[In, Out any](ctx context.Context, c *Client, op admin.Operation[In, Out], in In, parameters []string, read func(io.Reader) error) error {
	target, query := c.Base+op.Path, url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			query.Set(parameters[i], parameters[i+1])
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	var body io.Reader
	if _, none := any(in).(admin.None); !none {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, op.Method, target, body)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	req.Header.Set(auth.OperatorHeader, c.Token)
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

// readLines calls each with the lines of an answer up to the last, which says
// how it ended.
func readLines(r io.Reader, each func(admin.Line) error) (admin.Result, error) {
	lines := json.NewDecoder(r)
	for {
		var l admin.Line
		if err := lines.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = ErrCutOff
			}
			return admin.Result{}, err
		}
		switch {
		case l.Result != nil:
			return *l.Result, nil
		case l.Error != "":
			return admin.Result{}, errors.New(l.Error)
		}
		if err := each(l); err != nil {
			return admin.Result{}, err
		}
	}
}
