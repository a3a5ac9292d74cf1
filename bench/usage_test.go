package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/needs"
)

// shell returns a command that runs a script with the programs it names.
func shell(t *testing.T, script string, programs ...string) *exec.Cmd {
	t.Helper()
	for _, p := range programs {
		needs.Program(t, p)
	}
	return exec.CommandContext(t.Context(), needs.Program(t, "sh"), "-c", script)
}

func TestMeasure(t *testing.T) {
	// It sleeps for long enough to be seen on a busy machine.
	u, err := measure(shell(t, "sleep 2; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", "sleep"))
	if err != nil {
		t.Fatal(err)
	}
	if u.Wall < 2*time.Second || u.CPU <= 0 || u.CPU > u.Wall*4 || u.PeakRSSBytes <= 0 || u.PeakTreeRSSBytes < u.PeakRSSBytes {
		t.Errorf("usage of a shell = %+v, want at least 2 s, some CPU time and some memory", u)
	}
}

func TestMeasureReportsFailure(t *testing.T) {
	_, err := measure(shell(t, "echo out of luck >&2; exit 3"))
	if !errorHas(err, "sh: exit status 3: out of luck") {
		t.Errorf("error = %v, want status and what the command said", err)
	}
}

// The memory of a child counts for its parent, which has little itself.
func TestMeasureCountsChildren(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	const size = 64 << 20
	// sort has all of it while it waits for more. A look that a busy machine delays makes
	// the next one late, so it waits for longer when it was not seen.
	var u Usage
	for _, wait := range []string{"1", "5", "20"} {
		var err error
		script := "{ head -c 67108864 /dev/zero; sleep " + wait + "; } | { sort -S 256M --parallel=1 >/dev/null; true; }"
		if u, err = measure(shell(t, script, "head", "sleep", "sort")); err != nil {
			t.Fatal(err)
		}
		if u.PeakRSSBytes >= size/2 {
			break
		}
	}
	// Half of it, as the last moment before its end is not seen.
	if u.PeakRSSBytes < size/2 || u.PeakTreeRSSBytes < u.PeakRSSBytes {
		t.Errorf("usage of a shell whose child holds %d bytes = %+v", size, u)
	}
}

func TestParseStatus(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	// What the collector gives back between two looks makes them differ.
	debug.FreeOSMemory()
	var s treePeaks
	var now int64
	for try := 0; try < 5 && (s.total < now/2 || s.total > 2*now || now == 0); try++ {
		s = sampleTree(os.Getpid())
		now = residentNow(t)
	}
	if s.total < now/2 || s.total > 2*now || s.single < s.total || s.anon <= 0 || s.anon > s.total {
		t.Errorf("sizes of this process = %+v, want plausible ones, and about %d bytes now", s, now)
	}
	if s := sampleTree(1 << 30); s != (treePeaks{}) {
		t.Errorf("sizes of no process = %+v, want zeros", s)
	}
}

// residentNow returns how many bytes this process is resident with.
func residentNow(t *testing.T) int64 {
	t.Helper()
	// The peak of this process is that of the tests before, and may be far above what
	// it holds now, which the second field of statm tells in pages.
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func TestTail(t *testing.T) {
	var tl tail
	for range 1000 {
		_, _ = tl.Write([]byte("0123456789\n"))
	}
	_, _ = tl.Write([]byte("the end\n"))
	if got := tl.String(); len(got) > tailBytes || !strings.HasSuffix(got, "the end") {
		t.Errorf("tail = %d bytes ending in %.20q, want at most %d and the end", len(got), got[len(got)-10:], tailBytes)
	}
}

func TestDiskUse(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a/x": 10, "a/b/y": 20, "c": 5} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	total, parts, err := diskUse(dir)
	if err != nil || total != 35 || parts["a"] != 30 || parts["c"] != 5 {
		t.Errorf("disk use = %d, parts %v, error %v; want 35, a 30, c 5", total, parts, err)
	}
}
