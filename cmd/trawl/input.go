package main

import (
	"context"
	"io"
)

// input is the standard input of a command. An interrupt ends a read that waits
// for the user to type, which a read of a file or terminal alone would not see.
type input struct {
	ctx context.Context
	r   io.Reader
}

func (in *input) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	// A read that was given up may write to its buffer later.
	buf := make([]byte, len(p))
	done := make(chan result, 1)
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	go func() {
		n, err := in.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case <-in.ctx.Done():
		return 0, in.ctx.Err()
	case got := <-done:
		return copy(p, buf[:got.n]), got.err
	}
}
