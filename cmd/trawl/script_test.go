package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/ctags"
)

// TestScripts runs testdata/*.txt. One of them: go test -run TestScripts/search
func TestScripts(t *testing.T) {
	programs := plainPrograms(t)
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup:               func(env *testscript.Env) error { return setScript(env, programs) },
		Condition:           scriptCondition,
		Cmds:                scriptCommands(),
	})
}

// setScript sets the environment of a script.
func setScript(env *testscript.Env, programs string) error {
	env.Setenv("TRAWL_DATA", filepath.Join(env.WorkDir, "data"))
	env.Setenv("TRAWL_LISTEN", "127.0.0.1:0")
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	env.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir))
	// The race detector lets every program sleep for a second at its end.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	env.Setenv("PATH", programs+env.Getenv("PATH"))
	return setOldStores(env)
}

// scriptCommands are the commands of scripts beside those of testscript.
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"status":     scriptStatus,
		"commit":     scriptCommit,
		"many":       scriptMany,
		"binary":     scriptBinary,
		"ready":      scriptReady,
		"eventually": scriptEventually,
		"get":        scriptGet,
		"ask":        scriptAsk,
		"capture":    scriptCapture,
		"soon":       scriptSoon,
		"shows":      scriptShows,
		"says":       scriptSays,
		"hangup":     scriptHangup,
		"occupy":     scriptOccupy,
		"flip":       scriptFlip,
		"killwhen":   scriptKillWhen,
		"below":      scriptBelow,
		"free":       scriptFree,
		"replace":    scriptReplace,
		"signin":     scriptSignIn,
		"probe":      scriptProbe,
		"each":       scriptEach,
		"oauth":      scriptOAuth,
		"device":     scriptDevice,
		"srclogin":   scriptSrcLogin,
		"leave":      leaveInManifest,
		"unpack":     unpackStore,
		"answers":    compareAnswers,
	}
}

// scriptCondition tells scripts whether there is a ctags that trawl can use:
//
//	[!ctags] skip 'ctags is not installed (Debian package universal-ctags)'
func scriptCondition(name string) (bool, error) {
	if name != "ctags" {
		return false, fmt.Errorf("no condition is called %q", name)
	}
	_, err := ctags.Find()
	return err == nil, nil
}

// scripts returns testdata/*.txt, without that of src where there is no such
// program: requests of the same shape stand in for it in package graphql.
func scripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("scripts are %q, %v", files, err)
	}
	if !needs.Has(t, "src", "testdata/src.txt") {
		files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "src.txt" })
	}
	return files
}

// scriptFlip flips a bit near the beginning of a file:
//
//	flip data/FORMAT
func scriptFlip(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	data[min(20, len(data)-1)] ^= 64
	ts.Check(os.WriteFile(path, data, 0o644))
}

// scriptStatus runs a command that must end with a status:
//
//	status 1 trawl search nothing
func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: got status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// scriptCommit commits all files of a directory, which becomes a repository:
//
//	commit kiln
func scriptCommit(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	for _, line := range []string{
		"init -q -b main", "add -A",
		"-c user.name=kiln -c user.email=kiln@example.org commit -q --allow-empty -m changed",
	} {
		cmd := exec.Command("git", append([]string{"-C", dir}, strings.Fields(line)...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
}

// scriptBinary writes a file of four bytes that is no text: binary kiln/bin
func scriptBinary(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte{0, 1, 2, 0xff}, 0o644))
}

// scriptMany writes many files into a directory: many kiln 2000
func scriptMany(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("cup %d of glaze\n", i), 100)
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("cup%d.txt", i)), []byte(text), 0o644))
	}
}

// patience is how long a test waits for what takes milliseconds, on a machine
// that does much besides.
const patience = 3 * time.Minute

// until calls f until it says that it is done.
func until(ts *testscript.TestScript, what string, f func() bool) {
	for deadline := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// scriptReady waits until the server of $TRAWL_DATA is ready, and sets $URL.
func scriptReady(ts *testscript.TestScript, _ bool, _ []string) {
	until(ts, "the server", func() bool {
		f, err := serverfile.Read(ts.Getenv("TRAWL_DATA"))
		if err != nil {
			return false
		}
		ts.Setenv("URL", f.URL())
		resp, err := http.Get(f.URL() + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// scriptEventually repeats a command until it ends well:
//
//	eventually trawl search glaze
func scriptEventually(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, strings.Join(args, " "), func() bool { return ts.Exec(args[0], args[1:]...) == nil })
}

// scriptShows repeats a command until a line that it prints fits:
//
//	shows '^glaze -r:kiln\trepository$' trawl __complete search 'glaze -r:ki'
func scriptShows(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	until(ts, strings.Join(args, " "), func() bool {
		return ts.Exec(args[1], args[2:]...) == nil && want.MatchString(ts.ReadFile("stdout"))
	})
}

// scriptGet asks the server for a path without a token and expects a status:
// get 401 /path
func scriptGet(ts *testscript.TestScript, _ bool, args []string) {
	resp, err := http.Get(ts.Getenv("URL") + args[1])
	ts.Check(err)
	defer resp.Body.Close()
	if got := strconv.Itoa(resp.StatusCode); got != args[0] {
		ts.Fatalf("GET %s: got %s, want %s", args[1], got, args[0])
	}
}

// scriptAsk asks the server for a path with a token or the cookie of a session,
// or "" for neither, and expects a status and what the answer begins with:
//
//	ask $TOKEN 401 /.api/search/stream?q=glaze 'Invalid access token.'
func scriptAsk(ts *testscript.TestScript, _ bool, args []string) {
	status, body, err := askServer(ts, args[0], args[2])
	ts.Check(err)
	if status != args[1] || len(args) > 3 && !strings.HasPrefix(body, args[3]) {
		ts.Fatalf("GET %s: got %s %q, want %s %q", args[2], status, body, args[1], args[3:])
	}
}

// scriptSays waits for a line in an answer that the server gives any client:
// says /healthz ok
func scriptSays(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, strings.Join(args, " "), func() bool {
		_, body, err := askServer(ts, "", args[0])
		return err == nil && slices.Contains(strings.Split(body, "\n"), args[1])
	})
}

func askServer(ts *testscript.TestScript, token, path string) (status, body string, err error) {
	req, err := http.NewRequest(http.MethodGet, ts.Getenv("URL")+path, nil)
	if err != nil {
		return "", "", err
	}
	switch {
	case strings.HasPrefix(token, auth.CookieName+"="):
		req.Header.Set("Cookie", token)
		req.Header.Set("X-Requested-With", "script")
	case strings.HasPrefix(token, "sgo_"):
		req.Header.Set("Authorization", "Bearer "+token)
	case token != "":
		req.Header.Set("Authorization", "token "+token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return strconv.Itoa(resp.StatusCode), string(text), err
}

// scriptSoon asks as scriptAsk does until the status is as expected:
//
//	soon $TOKEN 401 /.api/search/stream?q=glaze
func scriptSoon(ts *testscript.TestScript, _ bool, args []string) {
	status := ""
	until(ts, strings.Join(args, " "), func() (done bool) {
		var err error
		status, _, err = askServer(ts, args[0], args[2])
		ts.Check(err)
		return status == args[1]
	})
}

// scriptCapture runs a command and keeps its output in a variable:
//
//	capture TOKEN trawl token create ann
func scriptCapture(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// scriptHangup sends a SIGHUP to the server of $TRAWL_DATA.
func scriptHangup(ts *testscript.TestScript, _ bool, _ []string) {
	f, err := serverfile.Read(ts.Getenv("TRAWL_DATA"))
	ts.Check(err)
	p, err := os.FindProcess(f.PID)
	ts.Check(err)
	ts.Check(p.Signal(syscall.SIGHUP))
	// Signals that are not taken yet are taken together.
	time.Sleep(100 * time.Millisecond)
}

// scriptOccupy listens on a port until the script ends, and sets $TAKEN to its
// address.
func scriptOccupy(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv("TAKEN", l.Addr().String())
}

// scriptKillWhen runs a command and kills it, without a chance to clean up, as
// soon as a file is there that fits a pattern:
//
//	killwhen 'data/index/*.tmp' trawl index kiln
func scriptKillWhen(ts *testscript.TestScript, _ bool, args []string) {
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "TRAWL_DATA="+ts.Getenv("TRAWL_DATA"), "HOME="+ts.Getenv("HOME"))
	ts.Check(cmd.Start())
	until(ts, args[0], func() bool {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		return len(found) > 0
	})
	ts.Check(cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		ts.Fatalf("%s had ended before it was killed", strings.Join(args[1:], " "))
	}
}
