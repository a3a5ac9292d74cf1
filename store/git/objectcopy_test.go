package git_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

func TestCopy(t *testing.T) {
	x := newFixture(t)
	big := strings.Repeat("clay ", 300_000) // many times what is written at once
	x.write("big", big)
	x.write("empty", "")
	x.commit()
	r := x.open().Objects()
	defer r.Close()
	for _, path := range []string{"big", "empty"} {
		oid := x.git("rev-parse", "HEAD:"+path)
		var out bytes.Buffer
		told := int64(-1)
		err := r.Copy(t.Context(), oid, func(kind string, size int64) (io.Writer, error) {
			if kind != "blob" {
				t.Errorf("%s is a %q, want a blob", path, kind)
			}
			told = size
			return &out, nil
		})
		want := map[string]string{"big": big, "empty": ""}[path]
		if err != nil || out.String() != want || told != int64(len(want)) {
			t.Errorf("copy of %s: %d bytes, told %d, %v; want %d", path, out.Len(), told, err, len(want))
		}
	}
}

// failing takes some bytes and then no more.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	f.left -= len(p)
	if f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// Whatever ends a copy, the next one works.
func TestCopyErrors(t *testing.T) {
	x := newFixture(t)
	x.write("big", strings.Repeat("clay ", 300_000))
	x.commit()
	oid := x.git("rev-parse", "HEAD:big")
	r := x.open().Objects()
	defer r.Close()
	into := func(w io.Writer, err error) func(string, int64) (io.Writer, error) {
		return func(string, int64) (io.Writer, error) { return w, err }
	}
	cancelled, cancel := context.WithCancel(t.Context())
	for _, tt := range []struct {
		name, oid string
		ctx       context.Context
		begin     func(string, int64) (io.Writer, error)
		want      error
	}{
		{"a writer that fails", oid, t.Context(), into(&failing{100_000}, nil), errFull},
		{"a caller that refuses", oid, t.Context(), into(nil, errFull), errFull},
		{"an object that is missing", strings.Repeat("0", 40), t.Context(), into(io.Discard, nil), git.ErrMissing},
		{"an option for an id", "--help", t.Context(), into(io.Discard, nil), nil},
		{"a context that ends", oid, cancelled, func(string, int64) (io.Writer, error) { cancel(); return io.Discard, nil }, context.Canceled},
	} {
		err := r.Copy(tt.ctx, tt.oid, tt.begin)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			// A context that ends just behind the last byte is no error.
			if tt.want != context.Canceled || err != nil {
				t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
			}
		}
		if o, err := r.Read(t.Context(), oid, 10<<20); err != nil || o.Size != 1_500_000 {
			t.Errorf("after %s: read %d bytes, %v; want all", tt.name, o.Size, err)
		}
	}
}

// A context that ends behind a whole answer ends a process that others read by: they get
// another, and no word of damage.
func TestReadBehindAContextThatEnds(t *testing.T) {
	x := newFixture(t)
	x.write("small", "clay")
	x.commit()
	oid := x.git("rev-parse", "HEAD:small")
	r := x.open().Objects()
	defer r.Close()
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		err := r.Copy(ctx, oid, func(string, int64) (io.Writer, error) { cancel(); return io.Discard, nil })
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if o, err := r.Read(t.Context(), oid, 100); err != nil || string(o.Data) != "clay" {
			t.Fatalf("read %q, %v", o.Data, err)
		}
	}
}
