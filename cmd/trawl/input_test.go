package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Who interrupts a command that waits for its input ends it.
func TestInterruptedInput(t *testing.T) {
	keepMemoryLimit(t)
	for _, args := range [][]string{
		{"api", "--data", filepath.Join(t.TempDir(), "data")},
		{"user", "create", "--data", filepath.Join(t.TempDir(), "data"), "--password-stdin", "ann"},
	} {
		input, typed := io.Pipe() // which is never written to
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		var stderr bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, args, input, io.Discard, &stderr) }()
		select {
		case err := <-ended:
			if code := exitCode(err, &stderr); code != 2 || stderr.String() != "trawl: interrupted\n" {
				t.Errorf("trawl %s: got status %d and %q, want 2 and that it was interrupted", args[0], code, &stderr)
			}
		case <-time.After(time.Minute):
			t.Errorf("trawl %s waits for its input after an interrupt", args[0])
		}
		_ = typed.Close()
	}
}

// What is read is all of the input, also with an interrupt to come.
func TestInterruptibleReader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	want := strings.Repeat("0123456789", 10_000)
	got, err := io.ReadAll(&input{ctx: ctx, r: strings.NewReader(want)})
	if err != nil || string(got) != want {
		t.Errorf("read %d bytes, %v; want %d", len(got), err, len(want))
	}
	cancel()
	if n, err := (&input{ctx: ctx, r: strings.NewReader(want)}).Read(make([]byte, 10)); n != 0 || err != context.Canceled {
		t.Errorf("read %d bytes, %v after an interrupt", n, err)
	}
}
