package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// scriptBelow makes a proxy that has the server of $TRAWL_DATA below a path,
// and sets $BELOW to its URL:
//
//	below /code
func scriptBelow(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.Getenv("TRAWL_DATA")
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		f, err := serverfile.Read(data)
		if err != nil {
			return // and nothing is there to answer
		}
		if to, err := url.Parse(f.URL()); err == nil {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		}
	}}
	s := httptest.NewServer(http.StripPrefix(args[0], forward))
	ts.Defer(s.Close)
	ts.Setenv("BELOW", s.URL+args[0])
}

// scriptFree sets $FREE to an address of this machine that no process listens
// on.
func scriptFree(ts *testscript.TestScript, _ bool, _ []string) {
	address, err := tcpproxy.FreeAddress()
	ts.Check(err)
	ts.Setenv("FREE", address)
}

// scriptReplace puts one text in the place of another: replace OLD NEW file
func scriptReplace(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[2])
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(ts.ReadFile(args[2]), args[0], args[1])), 0o644))
}

// scriptEach runs src with the arguments of each line of a file, and expects a
// status and an output:
//
//	each 1 '401 Unauthorized' rows.txt
func scriptEach(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile(args[1])
	for line := range strings.Lines(ts.ReadFile(args[2])) {
		status := 0
		if err := ts.Exec("src", words(line)...); err != nil {
			var ended *exec.ExitError
			if !errors.As(err, &ended) {
				ts.Fatalf("src %s: %v", line, err)
			}
			status = ended.ExitCode()
		}
		said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if strconv.Itoa(status) != args[0] || !want.MatchString(said) {
			ts.Fatalf("src %s: got status %d and\n%s\nwant %s and %q", line, status, said, args[0], args[1])
		}
	}
}

// words are the words of a line; those in single quotes may hold spaces.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}
