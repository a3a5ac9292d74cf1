package browse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store/spool"
)

// large is the size of a file that no system holds for a client that does not
// read.
const large = 24 << 20

// withLarge adds a file of noise to lab/kiln and returns it.
func withLarge(w *world) string {
	w.Helper()
	noise := make([]byte, large)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	w.kiln.Write("large.bin", string(noise))
	w.kiln.Commit("Add a large file")
	w.Sync("lab/kiln")
	return string(noise)
}

// slow asks for something on a connection with a small window, and reads no
// more than the status.
func (w *world) slow(path string) net.Conn {
	w.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		w.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		w.Fatal(err)
	}
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, status); err != nil || string(status) != "HTTP/1.1 200" {
		w.Fatalf("%s: %q, %v", path, status, err)
	}
	return conn
}

// A client that reads slowly holds no git process: what it has not read is in the
// spool, and goes when the client does.
func TestSlowDownloadsHoldNoGit(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large pages for slow clients")
	}
	// None is cut off for its pace before all have begun and are counted.
	w := newWorld(t, func(w *world) { w.pace = 10 * time.Minute })
	want := withLarge(w)
	var slow []net.Conn
	for _, path := range []string{"/lab/kiln/-/raw/large.bin", "/lab/kiln/-/raw?format=tar", "/lab/kiln/-/raw?format=zip"} {
		for range 2 {
			slow = append(slow, w.slow(path))
		}
	}
	if _, err := os.Stat("/proc/self/task"); err == nil {
		await(t, "git to end", func() (struct{}, bool) { return struct{}{}, children(t) == 0 })
	}
	if held := w.spool.Held(); held < 6*large {
		t.Errorf("%d bytes are in the spool, want six files of %d", held, large)
	}
	if got := w.get("/lab/kiln/-/raw/large.bin"); got.status != 200 || got.body != want {
		t.Errorf("beside slow downloads: %d with %d bytes, want the file", got.status, len(got.body))
	}
	for _, c := range slow {
		_ = c.Close()
	}
	await(t, "the spool to be empty", func() (struct{}, bool) { return struct{}{}, w.spool.Held() == 0 })
	if left, err := os.ReadDir(filepath.Join(w.Dir, "spool")); err != nil || len(left) > 0 {
		t.Errorf("%v is left in the spool, %v", left, err)
	}
}

// children counts the processes that this one has started.
func children(t *testing.T) int {
	t.Helper()
	n := 0
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children") // a thread that has ended
		n += len(bytes.Fields(list))
	}
	return n
}

// A client that takes less than it should is cut off, one that reads on is not.
func TestSlowClientsAreCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large pages for slow clients")
	}
	w := newWorld(t, func(w *world) { w.pace = 3 * time.Second })
	want := withLarge(w)
	for _, path := range []string{"/lab/kiln/-/raw/large.bin", "/lab/kiln/-/raw?format=tar"} {
		conn := w.slow(path)
		await(t, path+" to be cut off", func() (struct{}, bool) { return struct{}{}, w.spool.Held() == 0 })
		rest, err := io.ReadAll(conn)
		if len(rest) >= large {
			t.Errorf("%s: all of %d bytes came, %v", path, len(rest), err)
		}
	}
	// One that reads may have no turn for three seconds now and then, but not each time.
	var body []byte
	var err error
	for try := 0; try < 5 && string(body) != want; try++ {
		var resp *http.Response
		if resp, err = w.Client.Get(w.URL + "/lab/kiln/-/raw/large.bin"); err == nil {
			body, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
	}
	if string(body) != want {
		t.Errorf("a client that reads got %d bytes, %v; want %d", len(body), err, large)
	}
}

// What has no room is asked for again, what never has is refused at once.
func TestDownloadWithoutRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large pages for slow clients")
	}
	w := newWorld(t, func(w *world) {
		w.spooling, w.patience = spool.Options{Bytes: 2*large + 1<<20}, 10*time.Millisecond
	})
	withLarge(w)
	w.kiln.Write("larger.bin", strings.Repeat("0123456789abcde\n", 30<<20/16))
	w.kiln.Commit("Add a larger file")
	w.Sync("lab/kiln")
	for _, path := range []string{"/lab/kiln/-/raw/larger.bin", "/lab/kiln/-/raw?format=tar", "/lab/kiln/-/raw/larger.bin?format=zip"} {
		got := w.get(path)
		if got.status != http.StatusRequestEntityTooLarge || !strings.Contains(got.body, `"larger.bin" is larger than the 24 MiB`) ||
			got.header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %q, %v; want 413", path, got.status, got.body, got.header)
		}
	}
	if got := w.ask("HEAD", "/lab/kiln/-/raw/larger.bin"); got.status != 200 || got.header.Get("Content-Length") != fmt.Sprint(30<<20) {
		t.Errorf("HEAD: %d, %v", got.status, got.header)
	}
	other, err := w.spool.Create(t.Context(), "another client", large)
	if err != nil {
		t.Fatal(err)
	}
	more, err := w.spool.Create(t.Context(), "a third", large/2)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.get("/lab/kiln/-/raw/large.bin"); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("a full spool: %d %q, %v; want 503 with Retry-After", got.status, got.body, got.header)
	}
	if got := w.get("/lab/kiln/-/raw/main.go"); got.body != mainGo {
		t.Errorf("a small file beside a full spool: %d %q", got.status, got.body)
	}
	if err := errors.Join(other.Close(), more.Close()); err != nil {
		t.Error(err)
	}
	if got := w.get("/lab/kiln/-/raw/large.bin"); len(got.body) != large {
		t.Errorf("afterwards: %d, %d bytes", got.status, len(got.body))
	}
}

// The names of a directory that is too large for memory come from the spool.
func TestNamesOfLargeDirectory(t *testing.T) {
	w := newWorld(t)
	wide := w.git("wide")
	var want []string
	for i := range 3000 {
		want = append(want, fmt.Sprintf("%04d-%s", i, strings.Repeat("n", 200)))
	}
	hostile(wide, want...)
	w.AddSource("lab/wide=" + wide.Dir)
	w.Sync("lab/wide")
	if got := w.get("/lab/wide/-/raw"); got.body != strings.Join(want, "\n") {
		t.Errorf("got %d with %d bytes, want %d names", got.status, len(got.body), len(want))
	}
	if w.spool.Held() != 0 {
		t.Errorf("%d bytes are held behind that", w.spool.Held())
	}
}

// treeOf makes a tree as no git would, from "mode name content".
func treeOf(s *gitrepo.Repo, entries ...[3]string) string {
	s.Helper()
	var tree bytes.Buffer
	for _, e := range entries {
		oid := e[2]
		if e[0] != "40000" {
			oid = s.Feed(e[2], "hash-object", "-w", "--stdin")
		}
		id := make([]byte, 20)
		if _, err := fmt.Sscanf(oid, "%x", &id); err != nil {
			s.Fatal(err)
		}
		fmt.Fprintf(&tree, "%s %s\x00%s", e[0], e[1], id)
	}
	return s.Feed(tree.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
}

// No archive has a symbolic link that another entry would be written through.
func TestArchiveHasNoLinkAboveFiles(t *testing.T) {
	w := newWorld(t)
	odd := w.git("odd")
	inner := treeOf(odd, [3]string{"100644", "evil", "clay\n"})
	deep := treeOf(odd, [3]string{"40000", "way", inner}, [3]string{"120000", "way", "/tmp"})
	root := treeOf(odd,
		[3]string{"120000", "a", "/tmp"}, [3]string{"40000", "a", inner}, // a link before the directory
		[3]string{"40000", "b", inner}, [3]string{"120000", "b", "/tmp"}, // and behind it
		[3]string{"120000", "c", "/tmp/x"}, [3]string{"100644", "c", "a file of that name"},
		[3]string{"120000", "d", "/tmp"}, [3]string{"100644", "d/evil", "a name with a slash"},
		[3]string{"120000", "E", "/tmp"}, [3]string{"40000", "e", inner}, // one name where case does not matter
		[3]string{"120000", "%2E%2E", "/tmp"}, [3]string{"40000", "..", inner}, // one name when it is harmless
		[3]string{"120000", "f", "/tmp"}, [3]string{"40000", "f.", inner}, // one name on Windows
		[3]string{"120000", "g", "/tmp"}, [3]string{"120000", "g", "/var"},
		[3]string{"40000", "h", deep},
		[3]string{"120000", "same", "a"}, [3]string{"40000", "samestem", inner}, // these are two
		[3]string{"120000", "to/up", "b"}, [3]string{"100644", "to", "x"},
	)
	odd.Git("update-ref", "refs/heads/main", odd.Feed("Odd links\n", "commit-tree", root))
	w.AddSource("lab/odd=" + odd.Dir)
	w.Sync("lab/odd")
	for _, format := range []string{"zip", "tar"} {
		got := w.get("/lab/odd@main/-/raw?format=" + format)
		if got.status != 200 {
			t.Fatalf("%s: %d %q", format, got.status, got.body)
		}
		var links, evil []string
		for _, f := range files(t, format, got.body) {
			if strings.HasPrefix(f, "L") {
				links = append(links, f)
			}
			if strings.Contains(f, "evil") {
				evil = append(evil, f)
			}
		}
		if want := []string{`Lrwxrwxrwx same "a"`, `Lrwxrwxrwx to/up "b"`}; !slices.Equal(links, want) {
			t.Errorf("%s has the links\n%q, want\n%q", format, links, want)
		}
		if len(evil) != 8 {
			t.Errorf("%s: of the files %q are there, want 8", format, evil)
		}
	}
}
