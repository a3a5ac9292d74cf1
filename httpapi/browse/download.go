package browse

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/spool"
)

const (
	// smallBytes is the size of a file up to which it is sent from memory.
	smallBytes = 256 << 10
	// paceBytes is what a client takes at least in the time of Endpoint.Pace.
	paceBytes = 256 << 10
	usualPace = time.Minute
	// usualPatience is that of Endpoint.Patience.
	usualPatience = 10 * time.Second
)

// download is an answer with the bytes of a repository. The output of git is
// kept in the spool, so that git ends before the client is served, and the
// client may read slowly. A client that reads too slowly is cut off, since its
// answer takes space all the while. It belongs to one goroutine.
type download struct {
	http.ResponseWriter
	control *http.ResponseController
	place   *target
	space   *spool.Space
	work    *httpapi.Work
	client  string
	// pace and patience are those of the endpoint.
	pace, patience time.Duration
	// over is why the request has ended, nil as long as it has not: its client has
	// left, or its credential was taken back.
	over func() error

	// begun says that something was sent, resting that there is no processor for
	// the work, which it gives up when it writes to its client.
	begun, resting bool
	// left is what the client has to take until spent is as long as pace.
	left  int
	spent time.Duration
}

func (e *Endpoint) newDownload(w http.ResponseWriter, r *http.Request, p *target) *download {
	return &download{
		ResponseWriter: w, control: http.NewResponseController(w), place: p, space: e.Spool(),
		work: httpapi.WorkOf(r.Context()), client: auth.From(r.Context()).ClientKey(), pace: cmp.Or(e.Pace, usualPace), patience: cmp.Or(e.Patience, usualPatience), over: r.Context().Err,
	}
}

// Unwrap lets http.ResponseController reach what it wraps.
func (d *download) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// Write sends bytes. The time that passes between two calls does not count
// against the client.
func (d *download) Write(p []byte) (n int, err error) {
	d.begun, d.resting = true, true
	for err = d.over(); len(p) > 0 && err == nil; {
		if d.left == 0 {
			d.left, d.spent = paceBytes, 0
		}
		start := time.Now()
		_ = d.control.SetWriteDeadline(start.Add(d.pace - d.spent)) // of a server that can
		var m int
		m, err = d.ResponseWriter.Write(p[:min(len(p), d.left)])
		d.spent += time.Since(start)
		n, d.left, p = n+m, d.left-m, p[m:]
	}
	return n, err
}

// rest gives up the processor while the download waits, resume takes one again.
func (d *download) rest() {
	d.work.Rest()
	d.resting = true
}

func (d *download) resume(ctx context.Context) error {
	if !d.resting {
		return nil
	}
	if err := d.work.Resume(ctx); err != nil {
		return err
	}
	d.resting = false
	return nil
}

// spoolFile returns a file in the spool, once there is room for so many bytes.
func (d *download) spoolFile(ctx context.Context, bytes int64) (*spool.File, error) {
	d.rest()
	within, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	f, err := d.space.Create(within, d.client, bytes)
	if err != nil {
		return nil, err
	}
	if err := d.resume(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// fetchUnknown is fetch of an object whose size is not known. git prints the
// size before it unpacks the object, and is ended there if that is not small.
// Most files are small, and a separate question for the size takes a process of
// its own.
func (d *download) fetchUnknown(ctx context.Context, oid string) (size int64, content io.ReadCloser, err error) {
	o, err := d.place.code.Object(ctx, oid, smallBytes)
	if errors.Is(err, git.ErrTooLarge) {
		content, err = d.fetch(ctx, oid, o.Size)
		return o.Size, content, err
	}
	return o.Size, io.NopCloser(bytes.NewReader(o.Data)), err
}

// fetch reads an object of a size from git, to its end.
func (d *download) fetch(ctx context.Context, oid string, size int64) (io.ReadCloser, error) {
	if size <= smallBytes {
		if err := d.resume(ctx); err != nil {
			return nil, err
		}
		o, err := d.place.code.Object(ctx, oid, smallBytes)
		return io.NopCloser(bytes.NewReader(o.Data)), err
	}
	f, err := d.spoolFile(ctx, size)
	if err != nil {
		return nil, err
	}
	if err := d.place.code.Copy(ctx, oid, func(string, int64) (io.Writer, error) { return f, nil }); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return spooled{f.Reader(), f}, nil
}

// spooled is a file of the spool that is read.
type spooled struct {
	io.Reader
	io.Closer
}

// end returns an error that can still be reported. An answer that has begun is
// cut off instead, so that no client takes it for whole.
func (d *download) end(err error) error {
	if d.begun {
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_ = d.control.SetWriteDeadline(time.Time{}) // the connection goes on
		return nil
	}
	if err == nil {
		return nil
	}
	h := d.Header()
	h.Del("Content-Length")
	h.Del("Content-Disposition")
	h.Del("Content-Encoding")
	switch {
	case errors.Is(err, spool.ErrTooLarge):
		return tooLarge("%q is larger than the %d MiB that can be sent at once: clone the repository", d.place.path, d.space.Largest()>>20)
	case errors.Is(err, spool.ErrFull):
		return httpapi.Busy(d, err)
	}
	return d.place.readable(err)
}

// tooLarge is the answer for what cannot be sent even alone.
func tooLarge(format string, args ...any) error {
	return &httpapi.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf(format, args...)}
}
