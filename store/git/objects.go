package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Object is a git object of any kind.
type Object struct {
	OID string
	// Kind is "commit", "tree", "blob" or "tag".
	Kind string
	// Size is the content's length in bytes.
	Size int64
	// Data is the content; it is the caller's.
	Data []byte
}

// ObjectReader reads objects one by one through a git process that is started
// when it is needed and kept for a while, as it takes memory even when it has
// nothing to do. It is safe for concurrent use: reads wait for each other.
type ObjectReader struct {
	repo       *Repo
	idleWithin time.Duration

	mu    sync.Mutex // held for the length of a read
	child *batch     // nil until needed, after a read that ended early, and when idle
	// idle ends the child when nothing was read for idleWithin; reads counts them.
	idle  *time.Timer
	reads int
}

// idleWithin is how long a process without anything to do is kept for the next
// object. One is started in some 3 ms.
const idleWithin = 2 * time.Second

// Objects returns a reader of single objects. Close must be called to end its
// process.
func (r *Repo) Objects() *ObjectReader { return &ObjectReader{repo: r, idleWithin: idleWithin} }

// Close ends the reader's process, if there is one.
func (o *ObjectReader) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop()
}

// dropIdle ends the process if nothing was read since so many reads.
func (o *ObjectReader) dropIdle(reads int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reads == reads {
		o.drop()
	}
}

// drop ends the process, if there is one, and returns its last words. The lock is
// held.
func (o *ObjectReader) drop() string {
	if o.child == nil {
		return ""
	}
	if o.idle != nil {
		o.idle.Stop()
	}
	message := o.child.stop()
	o.child = nil
	return message
}

// Read returns the object of that id. The error is ErrMissing if there is none,
// ErrCorrupt if git cannot read it and ErrTooLarge, with Kind and Size set, if
// it has more than maxBytes bytes.
func (o *ObjectReader) Read(ctx context.Context, oid string, maxBytes int64) (Object, error) {
	var obj Object
	err := o.with(ctx, oid, func(b *batch) (err error) {
		obj, err = b.object(oid, maxBytes)
		return err
	})
	if err != nil && !errors.Is(err, ErrTooLarge) {
		obj = Object{}
	}
	return obj, err
}

// Copy writes the content of an object of any size, without holding it in
// memory. begin gets the object's kind and size before anything is read, and
// returns the writer for it. The errors are those of Read, and begin's and the
// writer's as they are.
func (o *ObjectReader) Copy(ctx context.Context, oid string, begin func(kind string, size int64) (io.Writer, error)) error {
	return o.with(ctx, oid, func(b *batch) error {
		obj, err := b.head(oid)
		if err != nil {
			return err
		}
		w, err := begin(obj.Kind, obj.Size)
		if err != nil {
			return &callerError{err}
		}
		if err := b.copy(w, obj.Size); err != nil {
			return err
		}
		return b.skip(1)
	})
}

// callerError is an error of the caller. It ends the child in the middle of an
// answer that the caller no longer reads.
type callerError struct{ error }

// with has git answer one question.
func (o *ObjectReader) with(ctx context.Context, oid string, ask func(*batch) error) error {
	if !isObjectID(oid) {
		return fmt.Errorf("read object of %s: %q is not an object id", o.repo.dir, oid)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("read object of %s: %w", o.repo.dir, cause)
	}
	if o.child == nil {
		child, err := o.repo.git.startBatch(ctx, "--batch")
		if err != nil {
			return fmt.Errorf("read object of %s: %w", o.repo.dir, err)
		}
		o.child = child
	}
	if o.idle != nil {
		o.idle.Stop()
	}
	o.reads++
	unwatch := context.AfterFunc(ctx, o.child.kill)
	defer unwatch()
	err := ask(o.child)
	killed := !unwatch() // or about to be, also behind a whole answer
	o.child.stdout.rest()
	if errors.Is(err, ErrTooLarge) {
		o.drop() // rather than to have it inflate what may be gigabytes
		return err
	}
	if err == nil || errors.Is(err, ErrMissing) {
		if killed {
			o.drop() // the next read needs one that lives
			return err
		}
		reads := o.reads
		o.idle = time.AfterFunc(o.idleWithin, func() { o.dropIdle(reads) })
		return err
	}
	message := o.drop()
	var own *callerError
	switch cause := context.Cause(ctx); {
	case errors.As(err, &own):
		return own.error
	case cause != nil:
		return fmt.Errorf("read object of %s: %w", o.repo.dir, cause)
	case errors.Is(err, errDied) && outOfMemory(message):
		return fmt.Errorf("%w for want of memory, of which object %s needs too much: %s", ErrTooCostly, oid, message)
	case errors.Is(err, errDied):
		return corruptError(oid, message)
	}
	return err
}

// Size returns how many bytes an object has, without unpacking it, by a process
// of its own that takes little and does not wait for others. The errors are those
// of Read.
func (o *ObjectReader) Size(ctx context.Context, oid string) (int64, error) {
	if !isObjectID(oid) {
		return 0, fmt.Errorf("size of an object of %s: %q is not an object id", o.repo.dir, oid)
	}
	b, err := o.repo.git.startBatch(ctx, "--batch-check")
	if err != nil {
		return 0, fmt.Errorf("size of an object of %s: %w", o.repo.dir, err)
	}
	unwatch := context.AfterFunc(ctx, b.kill)
	obj, err := b.head(oid)
	unwatch()
	message := b.stop()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return 0, fmt.Errorf("size of an object of %s: %w", o.repo.dir, cause)
	}
	if errors.Is(err, errDied) {
		err = corruptError(oid, message)
	}
	return obj.Size, err
}

// head asks for an object and reads what stands before its content. After an
// error other than ErrMissing the batch can only be stopped.
func (b *batch) head(oid string) (Object, error) {
	if _, err := io.WriteString(b.stdin, oid+"\n"); err != nil {
		return Object{}, b.died()
	}
	line, err := b.stdout.ReadSlice('\n')
	if err != nil {
		return Object{}, b.died()
	}
	id, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	kind, sizeText, ok := strings.Cut(rest, " ")
	switch {
	case id != oid:
		return Object{}, fmt.Errorf("git cat-file answered %q for %s", printable(string(line)), oid)
	case !ok:
		return Object{}, fmt.Errorf("%w: %s", ErrMissing, oid)
	}
	obj := Object{OID: oid, Kind: kind}
	if obj.Size, err = strconv.ParseInt(sizeText, 10, 64); err != nil || obj.Size < 0 {
		return Object{}, fmt.Errorf("git cat-file answered %q for %s", printable(string(line)), oid)
	}
	return obj, nil
}

// copy writes n bytes of git's answer.
func (b *batch) copy(w io.Writer, n int64) error {
	for n > 0 {
		part, err := b.stdout.Peek(int(min(n, copyBytes)))
		if err != nil {
			return b.died()
		}
		if _, err := w.Write(part); err != nil {
			return &callerError{err}
		}
		if _, err := b.stdout.Discard(len(part)); err != nil {
			return b.died()
		}
		n -= int64(len(part))
	}
	return nil
}

// copyBytes is how much of an object is written at once.
const copyBytes = 64 << 10

// object asks for one object. After an error other than ErrMissing the batch can
// only be stopped.
func (b *batch) object(oid string, maxBytes int64) (Object, error) {
	obj, err := b.head(oid)
	if err != nil {
		return obj, err
	}
	if obj.Size > maxBytes {
		return obj, fmt.Errorf("%w: %s has %d bytes, the limit is %d", ErrTooLarge, oid, obj.Size, maxBytes)
	}
	data, err := b.content(obj.Size)
	obj.Data = bytes.Clone(data)
	return obj, err
}

// Entry is a direct entry of a tree.
type Entry struct {
	// Mode is git's, such as 0o100644; ModeTree for a tree.
	Mode uint32
	Name string
	OID  string
}

// ModeTree is the mode of a tree within another.
const ModeTree uint32 = 0o040000

// Directory reports whether the entry is a tree.
func (e Entry) Directory() bool { return e.Mode == ModeTree }

// ParseTree returns the entries of a tree object, in git's order.
func ParseTree(o Object) ([]Entry, error) {
	if o.Kind != "tree" {
		return nil, fmt.Errorf("%s is a %s and no tree", o.OID, o.Kind)
	}
	var out []Entry
	idBytes := len(o.OID) / 2
	for rest := o.Data; len(rest) > 0; {
		head, after, ok := bytes.Cut(rest, []byte{0})
		mode, name, ok2 := bytes.Cut(head, []byte(" "))
		bits, err := strconv.ParseUint(string(mode), 8, 32)
		if !ok || !ok2 || err != nil || len(name) == 0 || len(after) < idBytes {
			return nil, fmt.Errorf("%w: tree %s", ErrCorrupt, o.OID)
		}
		out = append(out, Entry{Mode: uint32(bits), Name: string(name), OID: hex.EncodeToString(after[:idBytes])})
		rest = after[idBytes:]
	}
	return out, nil
}

// CommitObject is the content of a commit object.
type CommitObject struct {
	Commit
	// Tree is the id of its tree.
	Tree string
}

// ParseCommit reads a commit object. Signatures are as in the object, not
// mapped, and no files are set.
func ParseCommit(o Object) (*CommitObject, error) {
	if o.Kind != "commit" {
		return nil, fmt.Errorf("%s is a %s and no commit", o.OID, o.Kind)
	}
	c := &CommitObject{Commit: Commit{OID: o.OID}}
	head, message, _ := strings.Cut(string(o.Data), "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author = parseSignature(value)
		case "committer":
			c.Committer = parseSignature(value)
		}
		if (key == "tree" || key == "parent") && !isObjectID(value) {
			return nil, fmt.Errorf("%w: commit %s", ErrCorrupt, o.OID)
		}
	}
	if c.Tree == "" {
		return nil, fmt.Errorf("%w: commit %s has no tree", ErrCorrupt, o.OID)
	}
	if len(message) > MaxMessageBytes {
		message = strings.ToValidUTF8(message[:MaxMessageBytes], "")
	}
	c.Message = strings.TrimSpace(readable(message))
	return c, nil
}

// parseSignature reads "A U Thor <author@example.org> 1112911993 -0700".
func parseSignature(s string) Signature {
	name, rest, _ := strings.Cut(s, "<")
	email, when, _ := strings.Cut(rest, ">")
	seconds, zone, _ := strings.Cut(strings.TrimSpace(when), " ")
	p := Person{readable(strings.TrimSpace(name)), readable(email)}
	return Signature{Person: p, Mapped: p, Seconds: parseSeconds(seconds), ZoneMinutes: parseZone(zone)}
}
