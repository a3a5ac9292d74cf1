package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestClassifyFile(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          fileClass
	}{
		{"empty", "", text},
		{"text", "abc\n", text},
		{"invalid UTF-8", "caf\xe9", text},
		{"UTF-16, little end first", "\xff\xfea\x00", wideText},
		{"UTF-16, big end first", "\xfe\xff\x00a", wideText},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", binary},
		{"UTF-16 without a mark", "a\x00b\x00", binary},
		{"NUL after a megabyte", strings.Repeat("x", 1<<20) + "\x00", binary},
		{"as long as the buffer", strings.Repeat("x", 256<<10), text},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(tt.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := classifyFile(path); got != tt.want || err != nil {
			t.Errorf("%s: class %d, error %v; want %d", tt.name, got, err, tt.want)
		}
	}
}

func TestConsidered(t *testing.T) {
	c := newConsidered([]file{
		{path: "text", class: text}, {path: "skipped", class: text}, {path: "wide", class: wideText},
		{path: "binary", class: binary}, {path: "link", class: irregular},
	}, []Skipped{{Path: "skipped"}})
	for _, tt := range []struct {
		name string
		keep func(string) bool
		want string
	}{
		// A path that no commit holds must be seen, as it is made up
		{"content", c.content(false), "text,made-up"},
		{"content, UTF-16 too", c.content(true), "text,wide,made-up"},
		{"names", c.names(), "text,skipped,wide,binary,made-up"},
	} {
		var kept []string
		for _, path := range []string{"text", "skipped", "wide", "binary", "link", "made-up"} {
			if tt.keep(path) {
				kept = append(kept, path)
			}
		}
		if got := strings.Join(kept, ","); got != tt.want {
			t.Errorf("%s: keeps %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestLineOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one\ntwo\n"+strings.Repeat("x", 300)), 0o644); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[uint32]string{0: "", 1: "one", 2: "two", 3: strings.Repeat("x", maxQuoteBytes), 4: ""} {
		if got := lineOf(path, line); got != want {
			t.Errorf("line %d = %q, want %q", line, got, want)
		}
	}
	if got := lineOf(path+".none", 1); got != "" {
		t.Errorf("line of a missing file = %q, want none", got)
	}
}

func TestParseTreeEntry(t *testing.T) {
	for _, tt := range []struct {
		entry   string
		want    file
		wantErr string
	}{
		{"100644 blob 1234      56\ta b", file{path: "a b", bytes: 56, class: text}, ""},
		{"100755 blob 1234 7\trun", file{path: "run", bytes: 7, class: text}, ""},
		{"120000 blob 1234 7\tlink", file{path: "link", bytes: 7, class: irregular}, ""},
		{"160000 commit 1234 -\tmodule", file{path: "module", class: irregular}, ""},
		{"100644 blob 1234", file{}, "another form"},
		{"100644 blob 1234 x\ta", file{}, "invalid syntax"},
	} {
		got, err := parseTreeEntry(tt.entry)
		if got != tt.want || !errorHas(err, tt.wantErr) {
			t.Errorf("entry %q: %+v, error %v; want %+v, error with %q", tt.entry, got, err, tt.want, tt.wantErr)
		}
	}
}

func TestChooseFiles(t *testing.T) {
	var files []file
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		files = append(files, file{path: name, bytes: 10})
	}
	files = append(files, file{path: "empty"}, file{path: "binary", bytes: 10, class: binary},
		file{path: "large", bytes: maxResyncFileBytes + 1})
	var seen []string
	for _, group := range chooseFiles(files, 2, 2) {
		if len(group) != 2 {
			t.Errorf("group %v has %d files, want 2", group, len(group))
		}
		for _, f := range group {
			seen = append(seen, f.path)
		}
	}
	// Every second of the eight that fit, dealt to the groups in turn.
	if want := []string{"a", "e", "c", "g"}; !slices.Equal(seen, want) {
		t.Errorf("chosen files = %q, want %q", seen, want)
	}
	if got := chooseFiles(files, 3, 3); got != nil {
		t.Errorf("9 of 8 fitting files = %v, want nil", got)
	}
}

func TestGitIgnoresEnvironment(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("RIPGREP_CONFIG_PATH", "/nowhere")
	for _, kv := range cleanEnv("GIT_DIR=/ours") {
		if strings.HasSuffix(kv, "=/nowhere") {
			t.Errorf("environment of peers holds %q", kv)
		}
	}
}
