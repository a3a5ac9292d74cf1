package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/bench"
	"github.com/trawlsearch/trawl/internal/race"
)

// builtOnce is a program that is built at most once: linking it takes longer
// than most tests.
type builtOnce struct {
	sync.Once
	dir, binary string
	err         error
}

var (
	built builtOnce // trawl
	fake  builtOnce // this test binary, without the race detector
)

func (b *builtOnce) get(t *testing.T, build func(dir string) (string, error)) string {
	t.Helper()
	b.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "trawl-bench-test"); b.err == nil {
			b.binary, b.err = build(b.dir)
		}
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.binary
}

func (b *builtOnce) remove() {
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}

// builtTrawl returns the program's binary: that of TRAWL_TEST_BINARY, or one
// built here.
func builtTrawl(t *testing.T) string {
	t.Helper()
	if binary := os.Getenv("TRAWL_TEST_BINARY"); binary != "" {
		return binary
	}
	return built.get(t, func(dir string) (string, error) { return bench.BuildTrawl(context.Background(), dir) })
}

// fakeBinary returns what stands in for trawl and for peers: this test binary.
// The race detector has nothing to find in a stand-in, but takes some ten times
// as long for each of the hundreds of times that one is started and reads all
// files; so the stand-in is built without.
func fakeBinary(t *testing.T) string {
	t.Helper()
	if !race.Enabled {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return self
	}
	return fake.get(t, func(dir string) (string, error) {
		binary := filepath.Join(dir, "fake")
		cmd := exec.Command("go", "test", "-c", "-race=false", "-ldflags", "-s -w", "-o", binary, ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build the stand-in: %w: %s", err, out)
		}
		return binary, nil
	})
}
