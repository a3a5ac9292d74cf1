package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
)

// hostilePages are the addresses of pages, by their routes: with as much on them
// as strangers can bring about.
var hostilePages = map[string][]string{
	"/{repo}{rev}/-/blob{path}": {
		"/hostile/-/blob/newlines.txt", "/hostile/-/blob/newlines.txt?L4000000", "/hostile/-/blob/long.txt", "/hostile/-/blob/angles.txt",
		"/hostile/-/blob/marks.txt", "/hostile/-/blob/tokens.go", "/hostile/-/blob/stars.md",
	},
	"/{repo}{rev}/-/blame{path}": {
		"/hostile/-/blame/newlines.txt?L3000000", "/hostile/-/blame/long.txt", "/hostile/-/blame/angles.txt", "/hostile/-/blame/tokens.go", "/hostile/-/blame/marks.txt",
	},
	"/{repo}{rev}/-/raw{path}":     {"/hostile/-/raw/newlines.txt", "/hostile/-/raw/newlines.txt?as=download", "/hostile/-/raw/many/00001" + strings.Repeat("n", 100)},
	"/{repo}{rev}/-/tree{path}":    {"/hostile/-/tree/many", "/hostile/-/tree/many?from=19000"},
	"/{repo}{rev}/-/commits{path}": {"/hostile/-/commits", "/hostile/-/commits/many", "/hostile/-/commits/tokens.go", "/hostile/-/commits/long.txt?L1", "/hostile/-/commits/newlines.txt?L3000000-4000000", "/hostile/-/commits/tokens.go?L1-20000&view=split"},
	"/{repo}/-/commit/{oid}":       {"/hostile/-/commit/main~1", "/hostile/-/commit/main", "/hostile/-/commit/main~2"},
	"/{repo}/-/compare/{spec}":     {"/hostile/-/compare/main~2...main~1"},
	"/{repo}/-/branches":           {"/hostile/-/branches", "/hostile/-/branches?q=9"},
	"/{repo}{rev}":                 {"/hostile", "/hostile@main" + strings.Repeat("^0", 400)},

	"/.api/code/definitions": {"/.api/code/definitions?name=x&repository=hostile&path=tokens.go", "/.api/code/definitions?name=" + strings.Repeat("%22", 200)},
	"/.api/code/files":       {"/.api/code/files?q=" + strings.Repeat("n", 200), "/.api/code/files?limit=100&q=n&repository=hostile", "/.api/code/files?q=n&repository=hostile&revision=main~1", "/.api/code/files?q=" + strings.Repeat("%22+", 100)},
	"/.api/code/references":  {"/.api/code/references?name=x&limit=400&repository=hostile&path=long.txt", "/.api/code/references?name=n&repository=" + strings.Repeat("%22", 4_000)},
	"/.api/code/symbols":     {"/.api/code/symbols?limit=100&q=x", "/.api/code/symbols?q=" + strings.Repeat("%22+", 60) + "&repository=hostile", "/.api/code/symbols?q=x&revision=main~1&repository=hostile"},
	"/.api/code/hover":       {"/.api/code/hover?name=x&repository=hostile&path=" + strings.Repeat("%22", 4_000)},

	"/.api/search/export":                {"/.api/search/export?format=csv&q=" + strings.Repeat("x", 60_000), "/.api/search/export?format=jsonl&q=" + strings.Repeat("(", 5_000)},
	"/.api/search/groups":                {"/.api/search/groups?by=file&q=count:all", "/.api/search/groups?by=capture&t=regexp&q=" + strings.Repeat("(a)", 8_000)},
	"/.api/search/parse":                 {"/.api/search/parse?q=" + strings.Repeat("(", 16_000), "/.api/search/parse?t=regexp&q=" + strings.Repeat(".*", 8_000), "/.api/search/parse?q=" + strings.Repeat("x", 60_000)},
	"/.api/search/completions":           {"/.api/search/completions?q=repo:" + strings.Repeat("%22", 5_000), "/.api/search/completions?q=" + strings.Repeat("x", 60_000)},
	"/.api/indexing":                     {"/.api/indexing"},
	"/-/repositories":                    {"/-/repositories?q=" + strings.Repeat("%22", 30_000), "/-/repositories?sort=lag&from=1000000"},
	"/search/list":                       {"/search/list?q=" + strings.Repeat("%22", 60_000), "/search/list?from=10000&q=count:all"},
	"/search":                            {"/search", "/search?q=" + strings.Repeat("%22", 60_000)},
	"/-/trace/{id}":                      {"/-/trace/%s"},
	"/sign-in":                           {"/sign-in?returnTo=/" + strings.Repeat("%22", 30_000)},
	"/password-reset":                    {"/password-reset?userID=1&code=" + strings.Repeat("%22", 30_000)},
	"/debug/console":                     {"/debug/console"},
	"/debug/stream":                      {"/debug/stream?q=" + strings.Repeat("%22", 60_000)},
	"/help":                              {"/help"},
	"/help/query":                        {"/help/query"},
	"/help/api":                          {"/help/api"},
	"/help/api/stream":                   {"/help/api/stream"},
	"/help/api/graphql":                  {"/help/api/graphql"},
	"/device":                            {"/device?user_code=" + strings.Repeat("%22", 30_000)},
	"/.auth/idp/oauth/authorize":         {"/.auth/idp/oauth/authorize?client_id=x"},
	"/users/{user}/settings":             {"/users/ann/settings"},
	"/site-admin/users":                  {"/site-admin/users?q=" + strings.Repeat("%22", 30_000)},
	"/site-admin/users/{user}":           {"/site-admin/users/ann"},
	"/site-admin/organizations":          {"/site-admin/organizations"},
	"/site-admin/oauth-apps":             {"/site-admin/oauth-apps"},
	"/site-admin/repositories":           {"/site-admin/repositories"},
	"/site-admin/repositories/{id}":      {"/site-admin/repositories/1"},
	"/site-admin/external-services":      {"/site-admin/external-services?q=" + strings.Repeat("%22", 30_000)},
	"/site-admin/external-services/{id}": {"/site-admin/external-services/1"},
	"/site-admin/audit":                  {"/site-admin/audit"},
	"/site-admin/nodes":                  {"/site-admin/nodes"},
	"/site-admin/backups":                {"/site-admin/backups"},
	"/site-admin/configuration":          {"/site-admin/configuration"},
	"/site-admin/overview":               {"/site-admin/overview"},
	"/api/console":                       {"/api/console"},
	"/user/settings/authorised-apps":     {"/user/settings/authorised-apps"},

	"/users/{user}/searches":          {"/users/ann/searches?query=" + strings.Repeat("%22", 30_000)},
	"/users/{user}/searches/{id}":     {"/users/ann/searches/1"},
	"/users/{user}/searches/{id}/run": {"/users/ann/searches/1/run"},

	"/users/{user}/jobs":          {"/users/ann/jobs?query=" + strings.Repeat("%22", 30_000)},
	"/users/{user}/jobs/progress": {"/users/ann/jobs/progress?id=" + strings.Repeat("1&id=", 10_000)},
	"/users/{user}/jobs/{id}":     {"/users/ann/jobs/1"},

	"/users/{user}/contexts":      {"/users/ann/contexts?q=" + strings.Repeat("%22", 30_000)},
	"/users/{user}/contexts/{id}": {"/users/ann/contexts/1"},

	"/users/{user}/settings/tokens":          {"/users/ann/settings/tokens"},
	"/users/{user}/settings/authorised-apps": {"/users/ann/settings/authorised-apps"},
}

// hostileStream writes a repository for git fast-import: files of newlines, of
// one line and of characters that are long in HTML, a commit of many lines, a
// directory of many entries, and messages of megabytes.
func hostileStream(out io.Writer) {
	file := func(name, text string) { fmt.Fprintf(out, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text) }
	commit := func(message string) {
		fmt.Fprintf(out, "commit refs/heads/main\ncommitter k <k@example.org> 1700000000 +0000\ndata %d\n%s\n", len(message), message)
	}
	const size = 4 << 20
	commit("first\n\n" + strings.Repeat("<", 3<<20))
	file("newlines.txt", strings.Repeat("\n", size))
	file("long.txt", strings.Repeat("x", size-1))
	file("angles.txt", strings.Repeat(strings.Repeat("<", 99)+"\n", size/100))
	file("marks.txt", strings.Repeat("\u202e\n", size/4))
	file("stars.md", strings.Repeat("*a **b ", 18<<10))
	file("tokens.go", "package x\n"+strings.Repeat("+ 1\n", 100<<10))
	commit(strings.Repeat("<", 3<<20))
	for i := range 8 {
		file(fmt.Sprintf("e%d.txt", i), strings.Repeat("\n", 120_000))
	}
	commit("many")
	for i := range 20_000 {
		file(fmt.Sprintf("many/%05d%s", i, strings.Repeat("n", 100)), "x")
	}
}

// hostileRefs is how many branches the repository has.
const hostileRefs = 20_000

func hostileForPages(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hostile")
	git := func(stdin io.Reader, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Env, cmd.Stdin = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull), stdin
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git(nil, "init", "-q", "--bare", "-b", "main", dir)
	var stream bytes.Buffer
	hostileStream(&stream)
	git(&stream, "-C", dir, "fast-import", "--quiet")
	head := git(nil, "-C", dir, "rev-parse", "main")
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range hostileRefs {
		fmt.Fprintf(&packed, "%s refs/heads/b%06d\n", head, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "packed-refs"), []byte(packed.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// servedPages is a server of the built program and who asks it.
type servedPages struct {
	*testing.T
	url, data, token string
	pid              int
}

// servePages starts the program with a memory of 512 MiB.
func servePages(t *testing.T, repository string) *servedPages {
	t.Helper()
	binary := plainTrawl(t)
	s := &servedPages{T: t, data: filepath.Join(t.TempDir(), "data")}
	s.serve("--memory", "512MiB", repository)
	trawl := func(args ...string) string {
		cmd := exec.Command(binary, append(args, "--data", s.data)...)
		cmd.Stdin = strings.NewReader(browserPassword + "\n")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("trawl %s: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	trawl("user", "create", "ann", "--admin", "--password-stdin")
	s.token = regexp.MustCompile(`\S+$`).FindString(trawl("token", "create", "ann"))
	return s
}

// serve starts the program on the data directory, and ends it with the test.
func (s *servedPages) serve(args ...string) {
	s.Helper()
	cmd := exec.Command(plainTrawl(s.T), append([]string{
		"serve", "--anonymous-access", "yes", "--listen", "127.0.0.1:0", "--data", s.data, "--log-level", "error",
	}, args...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // it may have died, which Wait tells
		if err := cmd.Wait(); err != nil || strings.Contains(said.String(), "panic") {
			s.Errorf("serve ended with %v:\n%.4000s", err, &said)
		}
	})
	awaitReady(s.T, s.data)
	f, err := serverfile.Read(s.data)
	if err != nil {
		s.Fatal(err)
	}
	s.url, s.pid = f.URL(), cmd.Process.Pid
}

// mostResident is the largest resident size that the server has had, in bytes. What it
// has of files at the end, which are its own, must be within what memory is divided with.
func (s *servedPages) mostResident() int64 {
	s.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	field := func(name string) int64 {
		m := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(status)
		if m == nil {
			s.Fatalf("no %s in %s", name, status)
		}
		n, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
		return n << 10
	}
	if got := field("RssFile"); got > service.ProgramBytes {
		s.Errorf("the server has %d MiB of files in memory, and memory is divided as if it had %d", got>>20, service.ProgramBytes>>20)
	}
	return field("VmHWM")
}

// readSlowly asks for a page and takes nothing of it. The address is one of this
// machine, and each is a client of its own.
func (s *servedPages) readSlowly(path, address string) {
	s.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	conn, err := dialer.DialContext(s.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		s.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: token %s\r\n\r\n", path, s.token); err != nil {
		s.Fatal(err)
	}
}

// get asks for a page and reads it.
func (s *servedPages) get(client *http.Client, path string, header ...string) (int, []byte) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), "GET", s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Errorf("%.60s: %v", path, err)
	}
	return resp.StatusCode, body
}

// slowReaders is how many clients read each of the 42 pages slowly.
const slowReaders = 3

// The server stays within its memory whatever pages are asked for, of all routes
// there are, while hundreds of clients read theirs slowly; and other clients are
// served.
func TestPagesStayWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of clients read slowly")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the resident size of a process is read from /proc")
	}
	h := &host{set: config.Defaults(config.Machine{MemoryBytes: 1 << 30})}
	var paths []string
	for _, r := range h.newServer().Routes() {
		if r.Method != "GET" || r.Holds == 0 {
			continue
		}
		if len(hostilePages[r.Template()]) == 0 {
			t.Errorf("GET %s is in no line of hostilePages", r.Template())
		}
		paths = append(paths, hostilePages[r.Template()]...)
	}
	s := servePages(t, hostileForPages(t))
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(client.CloseIdleConnections)
	as := []string{"Authorization", "token " + s.token}
	_, events := s.get(client, "/search/stream?q=x+count:1", as...)
	trace := regexp.MustCompile(`/-/trace/([0-9a-f]{32})`).FindSubmatch(events)
	if trace == nil {
		t.Fatalf("no trace in %.2000s", events)
	}
	for i, path := range paths {
		paths[i] = strings.ReplaceAll(path, "/-/trace/%s", "/-/trace/"+string(trace[1]))
	}
	for i := range slowReaders {
		for _, path := range paths {
			s.readSlowly(path, fmt.Sprintf("127.0.1.%d", 1+i))
		}
	}
	for _, path := range paths {
		status, body := s.get(client, path)
		for begun := time.Now(); status == http.StatusServiceUnavailable && time.Since(begun) < patience; {
			time.Sleep(time.Second) // it says so: a slow machine has none of its turns left
			status, body = s.get(client, path)
		}
		// Others cannot see all of it, but are told at once.
		if status >= http.StatusInternalServerError || strings.HasPrefix(path, "/hostile") && status != http.StatusOK || len(body) > 4<<20 {
			t.Errorf("%.60s beside slow readers: %d with %d bytes: %.300s", path, status, len(body), body)
		}
	}
	const most = 512<<20 + 64<<20
	got := s.mostResident()
	t.Logf("%d MiB resident at most, of %d pages with %d slow readers each", got>>20, len(paths), slowReaders)
	if got > most {
		t.Errorf("the server took %d MiB, want %d at most", got>>20, int64(most)>>20)
	}
}
