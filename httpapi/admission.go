package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/fair"
)

// Admission decides which answers are made now. Pages, GraphQL answers and
// whatever else is made in memory share two things: processors and the bytes
// they hold. Both are divided fairly among clients. A nil Admission admits all.
//
// Searches have their own admission: admission.Queue for memory, and processor
// slots that they hand over every few milliseconds.
type Admission struct {
	processors, memory *fair.Semaphore
	patience           time.Duration
}

// admissionPatience is how long an answer waits for its admission. A person who
// has waited so long has left, and a program gets a Retry-After.
const admissionPatience = 10 * time.Second

// RetryAfter is the number of seconds in the Retry-After of clients that are
// not admitted.
const RetryAfter = "5"

// NewAdmission returns an admission that lets as many answers be made at once as
// there are processors, holding so many bytes together.
func NewAdmission(processors int, bytes int64) *Admission {
	return &Admission{
		processors: fair.NewSemaphore(int64(processors), 0), memory: fair.NewSemaphore(bytes, 0), patience: admissionPatience,
	}
}

// Work is an answer that was admitted. It belongs to one goroutine, except for
// Grow, Shrink and End. A nil Work is one that needs no admission.
type Work struct {
	admission          *Admission
	client             string
	processors, memory *fair.Grant
}

// Begin admits an answer to r that holds about so many bytes while it is made.
// It waits, for a bounded time and no longer than the client does. End ends what
// it begins. The error is an answer with status 503.
func (a *Admission) Begin(w http.ResponseWriter, r *http.Request, bytes int64) (*Work, error) {
	if a == nil {
		return nil, nil
	}
	work := &Work{admission: a, client: auth.From(r.Context()).ClientKey()}
	ctx, cancel := context.WithTimeout(r.Context(), a.patience)
	defer cancel()
	var err error
	// Memory is taken first: what waits for it holds no processor.
	if work.memory, err = a.memory.Acquire(ctx, work.client, bytes); err == nil {
		if work.processors, err = a.processors.Acquire(ctx, work.client, 1); err != nil {
			work.memory.Release()
		}
	}
	if err != nil {
		return nil, Busy(w, err)
	}
	return work, nil
}

// Busy returns the answer for a client that has to come again later, and why.
func Busy(w http.ResponseWriter, cause error) error {
	w.Header().Set("Retry-After", RetryAfter)
	return &Error{
		Status:  http.StatusServiceUnavailable,
		Message: "the server is busy with other requests, or with others of yours: try again in a few seconds", Cause: cause,
	}
}

// Yield lets the client that has least go first, if one waits for a processor.
// Long work calls it between two steps.
func (w *Work) Yield(ctx context.Context) error {
	if w == nil {
		return ctx.Err()
	}
	return w.processors.Yield(ctx)
}

// Rest gives up the processor until Resume: while an answer waits for a search,
// which has a slot of its own, or for its client.
func (w *Work) Rest() {
	if w != nil {
		w.processors.Release()
	}
}

// Resume waits for a processor after Rest. After an error the work goes on
// without one, to its end.
func (w *Work) Resume(ctx context.Context) error {
	if w == nil {
		return ctx.Err()
	}
	grant, err := w.admission.processors.Acquire(ctx, w.client, 1)
	if err == nil {
		w.processors = grant
	}
	return err
}

// Grow adds bytes to what the answer holds. It reports false if there are not
// so many left: the answer is then as large as it can get.
func (w *Work) Grow(bytes int64) bool { return w == nil || w.memory.Grow(bytes) }

// Most is how many bytes one client can have admitted, 0 where there is no limit.
func (w *Work) Most() int64 {
	if w == nil {
		return 0
	}
	return w.admission.memory.Most()
}

// Shrink gives back all but so many bytes: once an answer is made, it holds
// itself and nothing else.
func (w *Work) Shrink(bytes int64) {
	if w != nil {
		w.memory.Shrink(bytes)
	}
}

// End gives everything back. It may be called again.
func (w *Work) End() {
	if w != nil {
		w.processors.Release()
		w.memory.Release()
	}
}

// admitted returns a handler that does its work under the server's admission.
// While a client sends its form, or reads its answer, the work has no processor.
func (s middleware) admitted(holds int64, h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r = r.WithContext(r.Context())
		if r.Body == nil {
			r.Body = http.NoBody
		}
		form := arrived(r.Body)
		work, err := s.Admission.Begin(w, r, holds)
		if err != nil {
			return err
		}
		defer work.End()
		r = r.WithContext(context.WithValue(r.Context(), workKey{}, work))
		rest := io.Reader(r.Body)
		if len(form) > arrivedBytes {
			rest = &restingReader{r.Context(), r.Body, work}
		}
		r.Body = &restingBody{io.MultiReader(bytes.NewReader(form), rest), r.Body}
		return h(&restingWriter{w, work}, r)
	}
}

// arrived waits for a short body, and returns the beginning of a longer one.
func arrived(body io.Reader) []byte {
	form, _ := io.ReadAll(io.LimitReader(body, arrivedBytes+1)) // a reader of the rest gets the error
	return form
}

// restingBody is a body whose beginning has arrived.
type restingBody struct {
	io.Reader
	io.Closer
}

// restingReader gives up the processor of a work until the rest of a body has
// arrived.
type restingReader struct {
	ctx  context.Context
	from io.Reader
	work *Work
}

func (r *restingReader) Read(p []byte) (int, error) {
	r.work.Rest()
	n, err := r.from.Read(p)
	if err != nil {
		if late := r.work.Resume(r.ctx); late != nil && err == io.EOF {
			err = late
		}
	}
	return n, err
}

// restingWriter gives up the processor of a work when its answer begins.
type restingWriter struct {
	http.ResponseWriter
	work *Work
}

func (w *restingWriter) Write(p []byte) (int, error) {
	w.work.Rest()
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach what it wraps.
func (w *restingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type workKey struct{}

// WorkOf returns the work that a request was admitted for, nil if there is none.
func WorkOf(ctx context.Context) *Work {
	work, _ := ctx.Value(workKey{}).(*Work)
	return work
}
