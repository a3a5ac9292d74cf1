package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/trawlsearch/trawl/store/object"
)

const (
	// rangeBytes is how much is asked for at once. A download has rangesAtOnce of
	// them in memory at most, and all together mostRanges.
	rangeBytes   = 4 << 20
	rangesAtOnce = 4
	mostRanges   = 6
	// slowest is what a service has to send in a second, after a minute.
	slowest = 32 << 10
)

var (
	// errRange is that of an answer about other bytes than were asked for.
	errRange = errors.New("the service answers with other bytes than it was asked for")
	errSlow  = errors.New("the service sends next to nothing")
	// errCut is that of an answer of which a part came.
	errCut = errors.New("the answer ended early")
)

// Download reads an object in ranges, some ahead of the one that is written.
func (b *Bucket) Download(ctx context.Context, name string, to io.Writer, content object.Content) error {
	err := b.download(ctx, name, to, content)
	if wrong := (*object.ContentError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("read %s: %w", b, &object.DamagedError{Name: name, Why: wrong.Why})
	}
	return b.explain("read", name, err)
}

func (b *Bucket) download(ctx context.Context, name string, to io.Writer, content object.Content) error {
	ctx, cancel := context.WithCancel(ctx)
	r := &ranges{b: b, ctx: ctx, name: name, size: content.Size}
	defer r.close()
	defer cancel()
	check := content.Check()
	for {
		data, err := r.next()
		if err != nil {
			return err
		}
		if data == nil {
			return check.Err()
		}
		if _, err := check.Write(data); err != nil {
			return err
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
}

// ranges reads an object range by range. It lives as long as the call that was given
// its context, and is not safe for concurrent use.
type ranges struct {
	b    *Bucket
	ctx  context.Context
	name string
	// size is the object's, at where the next range begins that was not asked for.
	size, at int64
	// ahead are the ranges that were asked for; the first was returned last if taken
	// is true.
	ahead []*span
	taken bool
	free  [][]byte
}

// span is a range on its way. data and err may be read once done is closed.
type span struct {
	data []byte
	err  error
	done chan struct{}
}

// next returns the next range, valid until next is called again, or nil behind the
// last.
func (r *ranges) next() ([]byte, error) {
	if r.taken {
		r.free = append(r.free, r.ahead[0].data[:cap(r.ahead[0].data)])
		r.drop()
	}
	for r.at < r.size && len(r.ahead) < rangesAtOnce {
		// The first waits for a token, and the others do not: a download that has
		// one goes on, so that those which wait have one in the end.
		if len(r.ahead) == 0 {
			if _, err := take(r.ctx, r.b.ranges); err != nil {
				return nil, err
			}
		} else if !r.try() {
			break
		}
		r.ask()
	}
	if len(r.ahead) == 0 {
		return nil, nil
	}
	first := r.ahead[0]
	<-first.done
	r.taken = true
	return first.data, first.err
}

func (r *ranges) try() bool {
	select {
	case r.b.ranges <- struct{}{}:
		return true
	default:
		return false
	}
}

// ask begins to read the next range.
func (r *ranges) ask() {
	n := min(rangeBytes, r.size-r.at)
	var buf []byte
	if last := len(r.free) - 1; last >= 0 {
		buf, r.free = r.free[last], r.free[:last]
	} else {
		buf = make([]byte, n) // the first ones are the longest
	}
	s := &span{data: buf[:n], done: make(chan struct{})}
	at := r.at
	r.at += n
	r.ahead = append(r.ahead, s)
	go func() {
		defer close(s.done)
		s.err = r.b.patience.insist(r.ctx, cut, func() error { return r.b.readRange(r.ctx, r.name, at, r.size, s.data) })
	}()
}

// drop gives back the token of the first range.
func (r *ranges) drop() {
	r.ahead, r.taken = r.ahead[1:], false
	<-r.b.ranges
}

// close waits for what is on its way.
func (r *ranges) close() {
	for len(r.ahead) > 0 {
		<-r.ahead[0].done
		r.drop()
	}
}

// readRange reads the bytes from at on of an object that has to have so many.
func (b *Bucket) readRange(ctx context.Context, name string, at, size int64, data []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute+time.Duration(len(data)/slowest)*time.Second, errSlow)
	defer cancel()
	last := at + int64(len(data)) - 1
	var o minio.GetObjectOptions
	if err := o.SetRange(at, last); err != nil {
		return err
	}
	body, _, header, err := minio.Core{Client: b.client}.GetObject(ctx, b.bucket, b.key(name), o)
	if err != nil {
		return wrongIfMissing(err, at)
	}
	defer body.Close()
	var from, to, total int64
	if n, _ := fmt.Sscanf(header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total); n == 3 && total != size {
		return &object.ContentError{Why: fmt.Sprintf("it has %d bytes instead of %d", total, size)}
	} else if n != 3 || from != at || to != last {
		return errRange
	}
	if _, err := io.ReadFull(body, data); err != nil {
		return fmt.Errorf("%w: %w", errCut, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// wrongIfMissing returns another error for an object that is not there, or ends before
// a range that begins at at.
func wrongIfMissing(err error, at int64) error {
	switch minio.ToErrorResponse(err).Code {
	case "NoSuchKey":
		return &object.ContentError{Why: "it is not there"}
	case "InvalidRange":
		return &object.ContentError{Why: fmt.Sprintf("it has at most %d bytes", at)}
	}
	return err
}

// cut reports an answer of which a part came, which the library does not ask for again.
func cut(err error) bool { return errors.Is(err, errCut) }
