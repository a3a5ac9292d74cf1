package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/client"
)

func TestSearchHint(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string // part of it, "" for none
	}{
		{fmt.Errorf("search: %w", &client.StatusError{Status: 401}), "$TRAWL_TOKEN"},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "no server listens there"},
		{&client.StatusError{Status: 503}, ""},
		{errors.New("x"), ""},
	} {
		if got := searchHint(c.err); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}

func TestWarnGit(t *testing.T) {
	var log bytes.Buffer
	if warnGit(zerolog.New(&log)); log.Len() > 0 {
		t.Errorf("with git: said %s", &log)
	}
	t.Setenv("PATH", t.TempDir())
	if warnGit(zerolog.New(&log)); !strings.Contains(log.String(), "install git") {
		t.Errorf("without git: said %q", &log)
	}
}
