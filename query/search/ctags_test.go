package search_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/ingest"
)

// symbolFolders are folders of Go's source with Go, C, assembly, JavaScript and
// HTML, small enough to run ctags on every file.
var symbolFolders = []string{"bufio", "strings", "text/template/parse", "encoding/json", "runtime/cgo", "net/http/pprof", "cmd/trace", "cmd/cover", "sort"}

// TestSymbolsAgainstCtags: type:symbol finds in some of Go's source what ctags,
// run on one file after the other, finds there: names, kinds and lines.
func TestSymbolsAgainstCtags(t *testing.T) {
	program, err := ctags.Find()
	if err != nil {
		needs.Skip(t, "ctags", err)
	}
	tree, files := symbolTree(t)
	c := &corpus{}
	c.open(t, vfs.NewMem())
	defer c.close(t)
	parser, err := ctags.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	ix := ingest.New(c.st, ingest.Options{Ctags: parser, MinFreeBytes: -1})
	repo, err := ix.Add(t.Context(), ingest.Source{Name: "go", Location: tree})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Sync(t.Context(), repo.Name, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Symbols.Read(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want := ctagsOf(t, program, tree, files)
	if len(want) < 1000 {
		t.Fatalf("ctags finds %d symbols in %d files, want 1000 or more", len(want), len(files))
	}
	all := c.symbolLines(t, "type:symbol count:all file:.")
	if !slices.Equal(all, want) {
		t.Fatalf("all symbols: %s", firstDifference(all, want))
	}
	// Names asked for one by one, by the lists.
	for i := 0; i < len(want); i += len(want)/60 + 1 {
		name := strings.Fields(want[i])[1]
		got := c.symbolLines(t, "type:symbol count:all case:yes patterntype:regexp ^"+name+"$")
		expected := slices.DeleteFunc(slices.Clone(want), func(l string) bool { return strings.Fields(l)[1] != name })
		if !slices.Equal(got, expected) {
			t.Errorf("%s: %s", name, firstDifference(got, expected))
		}
	}
}

// symbolTree commits the folders to a repository and returns its directory and
// the files in it.
func symbolTree(t *testing.T) (dir string, files []string) {
	t.Helper()
	dir = t.TempDir()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	for _, folder := range symbolFolders {
		err = filepath.WalkDir(filepath.Join(source, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(source, path)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(name))
			to := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, text, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "--all", "--force"}, {"commit", "-q", "--no-verify", "-m", "source"}} {
		gitrepo.Run(t, dir, nil, "", args...)
	}
	return dir, files
}

// symbolLines prints the symbols that a search finds: path:line, name, kind.
func (c *corpus) symbolLines(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	for _, m := range c.search(t, search.Settings{}, search.Options{}, text, query.Keyword).matches {
		f := m.(*query.FileMatch)
		for _, s := range f.Symbols {
			out = append(out, fmt.Sprintf("%s:%d %s %s", f.Path, s.Line, s.Name, s.Kind))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ctagsOf prints what ctags finds when it is run on every file by itself.
func ctagsOf(t *testing.T, program, tree string, files []string) []string {
	t.Helper()
	var mu sync.Mutex
	var out []string
	var wg sync.WaitGroup
	work := make(chan string)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for file := range work {
				found, err := ctagsOn(program, filepath.Join(tree, file))
				mu.Lock()
				if err != nil {
					t.Errorf("ctags %s: %v", file, err)
				}
				for _, s := range found {
					out = append(out, file+":"+s)
				}
				mu.Unlock()
			}
		})
	}
	for _, f := range files {
		work <- f
	}
	close(work)
	wg.Wait()
	slices.Sort(out)
	return slices.Compact(out)
}

func ctagsOn(program, file string) (out []string, err error) {
	cmd := exec.Command(program, "--options=NONE", "--quiet=yes", "--sort=no", "--output-format=json", "--fields=*",
		"--extras=-{anonymous}p", "-f", "-", file)
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var s struct {
			Name, Kind string
			Line       int
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		out = append(out, fmt.Sprintf("%d %s %s", s.Line, s.Name, query.SymbolKindOf(s.Kind)))
	}
	return out, nil
}
