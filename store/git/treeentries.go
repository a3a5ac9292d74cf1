package git

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// EachEntry calls f with the entries of a tree, in git's order, without holding
// the tree. f returns false for no more of them. The errors are those of Read;
// that of a tree beyond maxBytes is ErrTooLarge.
func (o *ObjectReader) EachEntry(ctx context.Context, oid string, maxBytes int64, f func(Entry) bool) error {
	return o.with(ctx, oid, func(b *batch) error {
		obj, err := b.head(oid)
		if err != nil {
			return err
		}
		if obj.Size > maxBytes {
			return fmt.Errorf("%w: %s has %d bytes, the limit is %d", ErrTooLarge, oid, obj.Size, maxBytes)
		}
		if obj.Kind != "tree" {
			return &callerError{fmt.Errorf("%s is a %s and no tree", oid, obj.Kind)}
		}
		content := &io.LimitedReader{R: b.stdout, N: obj.Size}
		if err := eachEntry(bufio.NewReaderSize(content, copyBytes), oid, f); err != nil {
			return err
		}
		return b.skip(content.N + 1)
	})
}

// eachEntry reads a tree: "mode name NUL id" for each entry. A name beyond the
// buffer of in is damage: git itself takes 4 KiB for a path.
func eachEntry(in *bufio.Reader, tree string, f func(Entry) bool) error {
	for {
		head, err := in.ReadSlice(0)
		if errors.Is(err, io.EOF) && len(head) == 0 {
			return nil
		}
		mode, name, ok := strings.Cut(strings.TrimSuffix(string(head), "\x00"), " ")
		bits, modeErr := strconv.ParseUint(mode, 8, 32)
		id, idErr := in.Peek(len(tree) / 2)
		if !ok || name == "" || errors.Join(err, modeErr, idErr) != nil {
			return fmt.Errorf("%w: tree %s", ErrCorrupt, tree)
		}
		e := Entry{Mode: uint32(bits), Name: name, OID: hex.EncodeToString(id)}
		if _, err := in.Discard(len(id)); err != nil {
			return fmt.Errorf("%w: tree %s", ErrCorrupt, tree)
		}
		if !f(e) {
			return nil
		}
	}
}
