package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
)

// repository makes a git repository with one file.
func repository(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("glaze\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"init -q -b main", "add -A", "-c user.name=k -c user.email=k@example.org commit -q -m made"} {
		cmd := exec.Command("git", append([]string{"-C", dir}, strings.Fields(line)...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
	return dir
}

// keepMemoryLimit undoes what the commands do to the process.
func keepMemoryLimit(t *testing.T) {
	limit := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(limit) })
}

// A whole life in one process: nothing of it may be left running.
func TestRunLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // the browser that tests share may be there
	keepMemoryLimit(t)
	kiln := repository(t, "kiln")
	t.Setenv("TRAWL_DATA", filepath.Join(t.TempDir(), "data"))
	do := func(want error, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); !errors.Is(err, want) {
			t.Fatalf("trawl %s: got %v, want %v; it said:\n%s", strings.Join(args, " "), err, want, &stderr)
		}
		return stdout.String()
	}
	do(nil, "index", kiln)
	if got, want := do(nil, "search", "glaze"), "kiln/a.txt:1:glaze\n"; got != want {
		t.Errorf("search: got %q, want %q", got, want)
	}
	do(errNothing, "search", "no such words")
	do(errTold, "index", filepath.Join(kiln, "nowhere"))
	do(nil, "repo", "list")

	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, strings.NewReader(""), io.Discard, &log)
	}()
	awaitReady(t, os.Getenv("TRAWL_DATA"))
	if got, want := do(nil, "search", "glaze"), "kiln/a.txt:1:glaze\n"; got != want {
		t.Errorf("search through the server: got %q, want %q", got, want)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve: got %v, want a good end", err)
	}
	if log.Len() > 0 {
		t.Errorf("serve logged errors:\n%s", &log)
	}
}

func awaitReady(t *testing.T, data string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		f, err := serverfile.Read(data)
		if err != nil {
			continue
		}
		resp, err := (&http.Client{Transport: transport}).Get(f.URL() + "/readyz")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("no server was ready within %v", patience)
}

// An interrupt is told as one, not as a list of what it interrupted.
func TestRunInterrupted(t *testing.T) {
	keepMemoryLimit(t)
	kiln := repository(t, "kiln")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	err := run(ctx, []string{"index", "--symbols=false", "--data", filepath.Join(t.TempDir(), "data"), kiln}, strings.NewReader(""), io.Discard, &stderr)
	if code := exitCode(err, &stderr); code != 2 || stderr.String() != "trawl: interrupted\n" {
		t.Errorf("got status %d and %q, want 2 and that it was interrupted", code, &stderr)
	}
}

// An interrupt while a new URL is read leaves nothing behind either.
func TestInterruptedAdditionIsUndone(t *testing.T) {
	keepMemoryLimit(t)
	ctx, cancel := context.WithCancel(t.Context())
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer hanging.Close()
	data := t.TempDir()
	var stderr bytes.Buffer
	args := []string{"repo", "add", "--data", data, "first=" + hanging.URL + "/first.git", "second=" + hanging.URL + "/second.git"}
	err := run(ctx, args, strings.NewReader(""), io.Discard, &stderr)
	if code := exitCode(err, &stderr); code != 2 || !strings.HasSuffix(stderr.String(), "trawl: interrupted\n") {
		t.Errorf("got status %d and %q, want 2 and that it was interrupted", code, &stderr)
	}
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"repo", "list", "--json", "--data", data}, strings.NewReader(""), &stdout, io.Discard); err != nil || stdout.Len() > 0 {
		t.Errorf("afterwards there is %q, %v; want nothing", &stdout, err)
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{nil, 0, ""},
		{errNothing, 1, ""},
		{errTold, 2, ""},
		{errors.New("no disk"), 2, "trawl: no disk\n"},
		{errors.Join(errors.New("a"), errors.New("b")), 2, "trawl: a; b\n"},
		{errors.New("cannot reach https://me:secret@x"), 2, "trawl: cannot reach https://x\n"},
		{errors.New("server answered 404: \x1b]0;title\a\rgone"), 2, "trawl: server answered 404: \\x1b]0;title\\x07\\rgone\n"},
	} {
		var stderr bytes.Buffer
		if code := exitCode(c.err, &stderr); code != c.code || stderr.String() != c.want {
			t.Errorf("%v: got %d %q, want %d %q", c.err, code, &stderr, c.code, c.want)
		}
	}
}
