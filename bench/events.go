package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEventBytes is the largest event line accepted. The API allows 10 MiB; a
// server that sends more is at fault, and adapting to it would hide that.
const maxEventBytes = 10<<20 + 64

// eventReader reads server-sent events as search servers write them: an event
// line, one data line, an empty line. It scans every byte once and, after the
// first large event, allocates nothing, since its time counts as the server's.
type eventReader struct {
	in   *bufio.Reader
	name string
	data []byte
	// long holds a line that does not fit the buffer of in.
	long []byte
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(r, 64<<10)}
}

// next reads one event into r.name and r.data; the data is valid until the
// next call. It returns io.EOF when the stream has ended.
func (r *eventReader) next() error {
	head, err := r.line()
	if err != nil {
		return err
	}
	name, ok := bytes.CutPrefix(head, []byte("event: "))
	if !ok {
		return fmt.Errorf("malformed event: got %.80q, want an event line", head)
	}
	r.name = eventName(name)
	line, err := r.line()
	if err != nil {
		return cutOff(r.name, err)
	}
	data, ok := bytes.CutPrefix(line, []byte("data: "))
	if !ok {
		return fmt.Errorf("malformed event %s: got %.80q, want a data line", r.name, line)
	}
	r.data = data
	return r.endOfEvent()
}

// endOfEvent reads the empty line without touching the buffer that r.data may
// point into: Peek would move it, so the two bytes are taken singly.
func (r *eventReader) endOfEvent() error {
	r.keep()
	b, err := r.in.ReadByte()
	if err != nil {
		return cutOff(r.name, err)
	}
	if b != '\n' {
		return fmt.Errorf("malformed event %s: got %q after data, want an empty line", r.name, b)
	}
	return nil
}

// keep copies r.data out of the reader's buffer when the next read would
// overwrite it, which is when nothing is left there.
func (r *eventReader) keep() {
	if r.in.Buffered() > 0 {
		return
	}
	r.long = append(r.long[:0], r.data...)
	r.data = r.long
}

func cutOff(name string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read event %s: %w", name, err)
}

// line returns the next line without its newline.
func (r *eventReader) line() ([]byte, error) {
	part, err := r.in.ReadSlice('\n')
	if err == nil {
		return part[:len(part)-1], nil
	}
	r.long = r.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		r.long = append(r.long, part...)
		if len(r.long) > maxEventBytes {
			return nil, fmt.Errorf("event line of more than %d bytes: %.80q", maxEventBytes, r.long)
		}
		part, err = r.in.ReadSlice('\n')
	}
	r.long = append(r.long, part...)
	switch {
	case err == nil:
		return r.long[:len(r.long)-1], nil
	case errors.Is(err, io.EOF) && len(r.long) > 0:
		return nil, fmt.Errorf("stream ends inside %.80q", r.long)
	}
	return nil, err
}

// eventName returns b as a string without allocating for the known names.
func eventName(b []byte) string {
	for _, known := range []string{"matches", "progress", "filters", "alert", "error", "done"} {
		if string(b) == known {
			return known
		}
	}
	return string(b)
}
