package admit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/admit"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

func TestDocument(t *testing.T) {
	const oid = "5f1c0e7a9b3d4c2288aa61f0d2e4b9c7715e3a60"
	goText := "package kiln\n"
	for _, tt := range []struct {
		name           string
		path           string
		mode           uint32
		blob           git.Blob
		reason         shard.Reason
		text, language string
		encoding       bool
	}{
		// what is text
		{"text", "a.go", git.ModeFile, git.Blob{Size: 13, Data: []byte(goText)}, shard.Searchable, goText, "Go", false},
		{"no language", "a", git.ModeFile, git.Blob{Size: 13, Data: []byte("a plain text\n")}, shard.Searchable, "a plain text\n", "", false},
		{"empty", "a.go", git.ModeExecutable, git.Blob{}, shard.Searchable, "", "Go", false},
		{"UTF-16", "a.go", git.ModeFile, git.Blob{Data: []byte("\xff\xfeg\x00o\x00")}, shard.Searchable, "go", "Go", true},
		{"a link", "a.go", git.ModeSymlink, git.Blob{Data: []byte("b.go")}, shard.Searchable, "b.go", "", false},
		// what is not
		{"binary", "a.go", git.ModeFile, git.Blob{Data: []byte("\x00\x01\x02\xff")}, shard.ReasonBinary, "", "Go", false},
		{"large", "a.go", git.ModeFile, git.Blob{Size: 101, Err: fmt.Errorf("x: %w", git.ErrTooLarge)}, shard.ReasonTooLarge, "", "Go", false},
		{"large once decoded", "a.go", git.ModeFile, git.Blob{Size: 80, Data: bytes.Repeat([]byte("\xe9t\xe9 "), 20)[:80]}, shard.Searchable, strings.Repeat("été ", 20), "Go", true},
		{"larger once decoded", "a.go", git.ModeFile, git.Blob{Size: 100, Data: bytes.Repeat([]byte("\xe9t\xe9 "), 25)}, shard.ReasonTooLarge, "", "", false},
		{"corrupt", "a.go", git.ModeFile, git.Blob{Err: fmt.Errorf("x: %w", git.ErrCorrupt)}, shard.ReasonCorrupt, "", "Go", false},
		{"missing", "a.go", git.ModeFile, git.Blob{Err: errors.New("x")}, shard.ReasonMissing, "", "Go", false},
		{"a submodule", "lib.go", git.ModeSubmodule, git.Blob{}, shard.ReasonSubmodule, "", "", false},
	} {
		d, text := admit.Rules{MaxTextBytes: 120}.Document(7, git.TreeEntry{Path: tt.path, OID: oid, Mode: tt.mode}, tt.blob)
		if d.Reason != tt.reason || string(text) != tt.text || d.Language != tt.language || (d.Encoding != "" && d.Encoding != "utf-8") != tt.encoding {
			t.Errorf("%s: got reason %q, text %.40q, language %q, encoding %q; want %q, %.40q, %q, one: %v",
				tt.name, d.Reason, text, d.Language, d.Encoding, tt.reason, tt.text, tt.language, tt.encoding)
		}
		if d.Repository != 7 || d.Path != tt.path || d.Mode != tt.mode || len(d.OID) != 20 || d.OID[0] != 0x5f || d.FileBytes != uint32(tt.blob.Size) {
			t.Errorf("%s: got %+v", tt.name, d)
		}
	}
}

func TestQuality(t *testing.T) {
	for path, want := range map[string]byte{
		"src/kiln.go": 0, "src/kiln_test.go": 1, "t/t0001-kiln.sh": 1, "samples/kiln.go": 1, "tools/kiln/bench/fire.c": 1,
		"vendor/x/kiln.go": 2, "vendor/x/t/kiln.t": 2, "src/kiln.pb.go": 3,
	} {
		if got := admit.Quality(path); got != want {
			t.Errorf("Quality(%q) = %d, want %d", path, got, want)
		}
	}
}
