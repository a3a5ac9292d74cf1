package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEventBytes bounds the memory that one event may take. Servers keep theirs
// below 10 MiB.
const maxEventBytes = 64 << 20

// eventReader reads server-sent events.
type eventReader struct {
	r    *bufio.Reader
	line []byte
	data []byte
	// limit is maxEventBytes outside tests.
	limit int
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 64<<10), limit: maxEventBytes}
}

// next returns the next event that has data; its bytes are valid until the
// call after. It returns io.EOF at the end. An event that the end cuts off is
// returned too, for the reader of its data to judge.
func (e *eventReader) next() (name string, data []byte, err error) {
	e.data = e.data[:0]
	for hasData := false; ; {
		line, err := e.readLine()
		if err != nil {
			if errors.Is(err, io.EOF) && hasData {
				return name, e.data, nil
			}
			return "", nil, err
		}
		if len(line) == 0 {
			if hasData {
				return name, e.data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if hasData {
				e.data = append(e.data, '\n')
			}
			hasData = true
			e.data = append(e.data, value...)
			if len(e.data) > e.limit {
				return "", nil, fmt.Errorf("event of more than %d bytes", e.limit)
			}
		}
	}
}

// readLine returns a line without its end. The last one may have none.
func (e *eventReader) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		part, err := e.r.ReadSlice('\n')
		e.line = append(e.line, part...)
		switch {
		case len(e.line) > e.limit:
			return nil, fmt.Errorf("line of more than %d bytes", e.limit)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(e.line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(e.line, []byte{'\n'}), []byte{'\r'}), nil
	}
}
