package bench_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// hashTree returns a hash over the names and bytes of all files below dir.
func hashTree(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		h.Write([]byte(name + "\x00"))
		h.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Figures of generated corpora are compared between machines and versions, so
// the bytes may never change.
func TestCorpusIsTheSameEverywhere(t *testing.T) {
	for _, tt := range []struct {
		corpus bench.Corpus
		want   string
	}{
		{bench.Corpus{Files: 50}, "7cdd90f4eb6205c2"},
		{bench.Corpus{Files: 50, Seed: 2}, "ff88035ade22023c"},
	} {
		dir := t.TempDir()
		if _, err := tt.corpus.Generate(dir); err != nil {
			t.Fatal(err)
		}
		if got := hashTree(t, dir); got != tt.want {
			t.Errorf("corpus %+v has hash %s, want %s", tt.corpus, got, tt.want)
		}
	}
}

func TestCorpusFacts(t *testing.T) {
	dir := t.TempDir()
	facts, err := bench.Corpus{Files: 100}.Generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if facts.Files != 110 || facts.Text != 107 {
		t.Errorf("files = %d, text files = %d; want 100 and ten odd ones, 107 of them text", facts.Files, facts.Text)
	}
	for word, want := range map[string]int{
		"xrare_word": 3, "begin_xpair": 10, "end_xpair": 10, "COMMON_xport": 106,
	} {
		if got := facts.Lines[word]; got != want {
			t.Errorf("lines with %s = %d, want %d", word, got, want)
		}
		if got := linesWith(t, dir, word); got != want {
			t.Errorf("text files hold %d lines with %s, want %d", got, word, want)
		}
	}
	if _, err := (bench.Corpus{}).Generate(dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("generating over a corpus: error = %v, want a refusal", err)
	}
}

// linesWith counts lines with word in files that have no NUL byte.
func linesWith(t *testing.T, dir, word string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if strings.Contains(string(content), "\x00") {
			return err
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, word) {
				n++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
