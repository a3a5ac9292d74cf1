package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// skimBytes is how much of a stream a skimmer holds at once, heldBytes how much
// of what came last it never lets go: the events that end a stream.
const (
	skimBytes = 128 << 10
	heldBytes = 64 << 10
	// firstBytes is what it begins with, as much as what reads a peer's answers.
	firstBytes = 8 << 10
)

// skimAnswer reads a stream to its end as fast as it comes and notes only the
// times of an answer: when the first matches event arrived and when the last
// byte did. A peer's answer counts as read at its last byte. The end of the
// stream is parsed afterwards. A stream that was cut off, or that has an alert
// or error behind its matches, is an error.
func skimAnswer(body io.Reader, start time.Time) (Answer, error) {
	var a Answer
	buf := make([]byte, firstBytes)
	n, looked := 0, 0
	for {
		switch {
		case n < len(buf):
		case n < skimBytes:
			buf = append(make([]byte, 0, skimBytes), buf...)[:skimBytes]
		default:
			n = copy(buf, buf[n-heldBytes:])
			looked = n
		}
		m, err := body.Read(buf[n:])
		n += m
		a.Bytes += int64(m)
		if a.First == 0 && bytes.Contains(buf[max(0, looked-len(matchesLine)):n], matchesLine) {
			a.First = time.Since(start)
		}
		looked = n
		switch {
		case errors.Is(err, io.EOF):
			a.Done = time.Since(start)
			return a, a.readTail(buf[:n])
		case err != nil:
			return a, err
		}
	}
}

// matchesLine begins a matches event; JSON never holds it, since it ends with a
// newline.
var matchesLine = []byte("event: matches\n")

// readTail reads the events behind the last matches, or those that are held.
func (a *Answer) readTail(tail []byte) error {
	if i := bytes.LastIndex(tail, matchesLine); i >= 0 {
		tail = tail[i:]
	} else if i := bytes.Index(tail, []byte("\n\nevent: ")); i >= 0 && !bytes.HasPrefix(tail, []byte("event: ")) {
		tail = tail[i+2:] // the rest of an event larger than what is held
	}
	rest, err := readAnswer(bytes.NewReader(tail), time.Now(), nil)
	a.Results, a.ServerMillis, a.Incomplete, a.Trace = rest.Results, rest.ServerMillis, rest.Incomplete, rest.Trace
	if err != nil {
		return fmt.Errorf("the end of a stream of %d bytes: %w", a.Bytes, err)
	}
	return nil
}
