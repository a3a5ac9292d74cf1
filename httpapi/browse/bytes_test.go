package browse_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// maxFilePageBytes is what the page of a file of 3,000 lines may have on the wire.
const maxFilePageBytes = 200 << 10

// Pages are small on the wire, for clients that take them compressed.
func TestFilePageIsSmall(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.SplitAfter(string(text), "\n")...)
	}
	w := newWorld(t)
	w.kiln.Write("large.go", strings.Join(lines[:3000], ""))
	w.kiln.Commit("Large")
	w.Sync("lab/kiln")
	for _, path := range []string{"/lab/kiln/-/blob/large.go", "/lab/kiln", "/lab/kiln/-/commit/main"} {
		plain, zipped := w.get(path, "Accept-Encoding", "identity"), w.get(path, "Accept-Encoding", "gzip")
		if plain.header.Get("Content-Encoding") != "" || zipped.header.Get("Content-Encoding") != "gzip" || zipped.header.Get("Vary") == "" {
			t.Errorf("%s: %v and, compressed, %v", path, plain.header, zipped.header)
		}
		if zipped.status != http.StatusOK || len(zipped.body) > maxFilePageBytes || len(zipped.body) >= len(plain.body) {
			t.Errorf("%s: %d with %d bytes, %d compressed", path, zipped.status, len(plain.body), len(zipped.body))
		}
		t.Logf("%s: %d bytes, %d compressed", path, len(plain.body), len(zipped.body))
	}
	if a := w.get("/lab/nothing", "Accept-Encoding", "gzip"); a.header.Get("Content-Encoding") != "" {
		t.Errorf("an error is compressed: %v", a.header)
	}
}

// TestFileInBlocks: the lines of a file are in blocks, which browsers lay out one by one;
// those of a blame are not, as who wrote them stands beside many.
func TestFileInBlocks(t *testing.T) {
	w := newWorld(t)
	w.kiln.Write("blocks.txt", strings.Repeat("glaze\n", 250))
	w.kiln.Write("one.txt", strings.Repeat("glaze\n", 100))
	w.kiln.Commit("Blocks")
	w.Sync("lab/kiln")
	for path, want := range map[string]string{"blob/blocks.txt": "100 100 50", "blob/one.txt": "100", "blame/blocks.txt": "250"} {
		var got []string
		for _, block := range strings.Split(w.get("/lab/kiln/-/"+path).body, "<tbody>")[1:] {
			got = append(got, strconv.Itoa(strings.Count(block, `<tr id="L`)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has blocks of %v lines, want %s", path, got, want)
		}
	}
}
