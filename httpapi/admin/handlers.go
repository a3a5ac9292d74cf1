package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/redact"
)

// Handlers answer only the operator.
type Handlers struct {
	// Repositories returns nil while there is nothing to act on yet, as all
	// functions here.
	Repositories func() Repositories
	// Registry is for users; without it there are no routes about them.
	Registry func() *identity.Registry
	// Apps is for OAuth apps, Backups for backups, Checker for verifying, Status
	// tells how the server is; nil leaves their routes out.
	Apps    func() *oauth.Book
	Backups func() Backups
	Checker func() Checker
	Status  StatusFunc
}

// Routes returns the routes of the operator.
func (h *Handlers) Routes() []httpapi.Route {
	routes := h.repositoryRoutes()
	if h.Checker != nil {
		routes = append(routes, answerLines(h, CheckData, h.check))
	}
	if h.Registry != nil {
		routes = append(routes, h.accountRoutes()...)
	}
	if h.Apps != nil {
		routes = append(routes, h.appRoutes()...)
	}
	if h.Status != nil {
		routes = append(routes, route(ReadStatus, h.serveStatus))
	}
	if h.Backups != nil {
		routes = append(routes, answerLines(h, MakeBackup, h.backup))
	}
	return routes
}

// call is one request of the operator.
type call struct {
	*manage.Operations
	repos Repositories
	r     *http.Request
}

var errStillOpening = &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "the server is still opening its data directory"}

// open returns a call on what is open, and refuses while it is being opened.
func (h *Handlers) open(r *http.Request) (*call, error) {
	c := &call{Operations: &manage.Operations{Actor: auth.From(r.Context())}, repos: h.Repositories(), r: r}
	if c.repos == nil {
		return nil, errStillOpening
	}
	c.Repositories = c.repos
	if h.Registry != nil {
		c.Registry = h.Registry()
	}
	if h.Apps != nil {
		c.Apps = h.Apps()
	}
	return c, nil
}

// answer makes the route of an operation that answers at once.
func answer[In, Out any](h *Handlers, op Operation[In, Out], do func(c *call, in In) (Out, error)) httpapi.Route {
	return route(op, func(w http.ResponseWriter, r *http.Request, in In) error {
		c, err := h.open(r)
		if err != nil {
			return err
		}
		out, err := do(c, in)
		if err != nil {
			return asError(err)
		}
		if _, none := any(out).(None); none {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return httpapi.ServeJSON(w, r, out)
	})
}

// answerLines makes the route of an operation that answers with lines, and a
// last one for how it ended. An error before the first line is answered with a
// status.
func answerLines[In any](h *Handlers, op Operation[In, Lines], do func(c *call, in In, send func(Line) error) (Result, error)) httpapi.Route {
	return route(op, func(w http.ResponseWriter, r *http.Request, in In) error {
		c, err := h.open(r)
		if err != nil {
			return err
		}
		leave, sent := lineSender(w), false
		send := func(l Line) error {
			data, err := json.Marshal(l)
			if err != nil {
				return fmt.Errorf("encode line: %w", err)
			}
			if !sent {
				sent = true
				w.Header().Set("Content-Type", "application/x-ndjson")
				w.Header().Set("Cache-Control", "no-store")
			}
			return leave(append(data, '\n'))
		}
		res, err := do(c, in, send)
		if err != nil && !sent {
			return asError(err)
		}
		last := Line{Result: &res}
		if err != nil {
			last = Line{Error: redact.Text(err.Error())}
		}
		_ = send(last) // a client that is gone misses nothing
		return nil
	})
}

// pieceBytes is how much of a line is written at once, and pieceWithin how long that
// may take to leave.
const (
	pieceBytes  = 48 << 10
	pieceWithin = time.Minute
)

// lineSender returns what sends one line of an answer and makes sure that it
// leaves. It is used by one goroutine.
func lineSender(w http.ResponseWriter) func(line []byte) error {
	control := http.NewResponseController(w)
	return func(line []byte) error {
		for piece := range slices.Chunk(line, pieceBytes) {
			if err := control.SetWriteDeadline(time.Now().Add(pieceWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return fmt.Errorf("send line: %w", err)
			}
			if _, err := w.Write(piece); err != nil {
				return fmt.Errorf("send line: %w", err)
			}
		}
		if err := control.Flush(); err != nil {
			return fmt.Errorf("send line: %w", err)
		}
		return nil
	}
}

// maxBody bounds what a body may say.
const maxBody = 64 << 10

// route makes the route of an operation, which refuses what In has no place for.
func route[In, Out any](op Operation[In, Out], serve func(w http.ResponseWriter, r *http.Request, in In) error) httpapi.Route {
	return httpapi.Route{Method: op.Method, Path: op.Path, Access: auth.ForAnyone, Handler: func(w http.ResponseWriter, r *http.Request) error {
		if err := operatorOnly(r); err != nil {
			return err
		}
		var in In
		if _, none := any(in).(None); !none {
			d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil {
				return badBody(in, err)
			}
		}
		return serve(w, r, in)
	}}
}

// badBody says what was expected in place of a body, if its type knows an example.
func badBody(in any, err error) error {
	if known, ok := in.(interface{ example() string }); ok {
		return &httpapi.Error{Status: http.StatusBadRequest, Message: "expected " + known.example(), Cause: err}
	}
	return &httpapi.Error{Status: http.StatusBadRequest, Message: "the body is not what this route expects: " + err.Error()}
}

// operatorOnly lets in programs on this machine that know the token.
func operatorOnly(r *http.Request) error {
	switch {
	case !auth.FromThisMachine(r):
		return &httpapi.Error{Status: http.StatusForbidden, Message: "this route answers only on the server's own machine"}
	case !auth.From(r.Context()).Operator():
		return &httpapi.Error{Status: http.StatusUnauthorized, Message: "this route needs the server's admin token"}
	}
	return nil
}

// parameter returns one that must be there.
func (c *call) parameter(name string) (string, error) {
	value := c.r.URL.Query().Get(name)
	if value == "" {
		return "", &httpapi.Error{Status: http.StatusBadRequest, Message: "the parameter " + name + " is missing"}
	}
	return value, nil
}

// onParameter has do act on what a parameter names.
func onParameter[In, Out any](parameter string, do func(c *call, name string, in In) (Out, error)) func(c *call, in In) (Out, error) {
	return func(c *call, in In) (out Out, err error) {
		name, err := c.parameter(parameter)
		if err != nil {
			return out, err
		}
		return do(c, name, in)
	}
}

// asError shows the whole error: clients of these routes may also read the log.
func asError(err error) error {
	var known *httpapi.Error
	if errors.As(err, &known) {
		return known
	}
	return &httpapi.Error{Status: statusOf(err), Message: redact.Text(err.Error()), Cause: err}
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, store.ErrExists):
		return http.StatusConflict
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// sent makes of what an operation returned what is sent of it.
func sent[T, Out any](v T, err error, send func(T) Out) (out Out, _ error) {
	if err != nil {
		return out, err
	}
	return send(v), nil
}

// each is sent for lists.
func each[T, Out any](all []T, err error, send func(T) (Out, error)) ([]Out, error) {
	if err != nil {
		return nil, err
	}
	out := make([]Out, len(all))
	for i, v := range all {
		if out[i], err = send(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
