package object

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

// Content is what a large object has to be. It is known before the object is stored
// and before it is read, so that other bytes are never taken for it. It has a byte at
// least.
type Content struct {
	Size   int64
	SHA256 [sha256.Size]byte
}

// MarshalText returns the size in decimal, a colon, and the hash in hex.
func (c Content) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d:%x", c.Size, c.SHA256), nil
}

// UnmarshalText reads what MarshalText returns.
func (c *Content) UnmarshalText(text []byte) error {
	size, sum, _ := strings.Cut(string(text), ":")
	n, err := strconv.ParseInt(size, 10, 64)
	hash, herr := hex.DecodeString(sum)
	if err != nil || herr != nil || n <= 0 || len(hash) != len(c.SHA256) {
		return fmt.Errorf("%q is no size and hash", text)
	}
	c.Size, c.SHA256 = n, [sha256.Size]byte(hash)
	return nil
}

// ContentError is that of bytes that are not the content they have to be.
type ContentError struct{ Why string }

// Error says what differs.
func (e *ContentError) Error() string { return e.Why }

// DamagedError is that of an object that is missing or not the content it has to be.
type DamagedError struct {
	// Name is the object's, Why what is wrong with it.
	Name, Why string
}

// Error names the object.
func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Name, e.Why) }

// Check compares bytes with a content as they pass.
type Check struct {
	want Content
	hash hash.Hash
	size int64
}

// Check returns a check before the first byte.
func (c Content) Check() *Check { return &Check{want: c, hash: sha256.New()} }

// Write takes the next bytes. It fails if they are more than there should be.
func (k *Check) Write(p []byte) (int, error) {
	if k.size += int64(len(p)); k.size > k.want.Size {
		return 0, &ContentError{fmt.Sprintf("it has more than %d bytes", k.want.Size)}
	}
	return k.hash.Write(p)
}

// Err returns what is wrong with the bytes if they were all.
func (k *Check) Err() error {
	if k.size != k.want.Size {
		return &ContentError{fmt.Sprintf("it has %d bytes instead of %d", k.size, k.want.Size)}
	}
	if sum := k.hash.Sum(nil); [sha256.Size]byte(sum) != k.want.SHA256 {
		return &ContentError{fmt.Sprintf("its SHA-256 is %x instead of %x", sum, k.want.SHA256)}
	}
	return nil
}

// Reader returns a reader of a source that ends with an error, a *ContentError or
// that of ctx, unless it has yielded the content and no more.
func (c Content) Reader(ctx context.Context, from io.ReaderAt) io.Reader {
	return &contentReader{ctx: ctx, from: io.NewSectionReader(from, 0, c.Size+1), check: c.Check()}
}

// contentReader lives as long as the call that was given its context.
type contentReader struct {
	ctx   context.Context
	from  io.Reader
	check *Check
}

func (r *contentReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(p)
	if _, cerr := r.check.Write(p[:n]); cerr != nil {
		return 0, cerr
	}
	if errors.Is(err, io.EOF) {
		if cerr := r.check.Err(); cerr != nil {
			return 0, cerr
		}
	}
	return n, err
}
