package browse_test

import (
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"testing"
)

// Text of files and the names in directories leave compressed for clients that take that;
// what is small or no text, and ranges, leave as they are.
func TestRawIsCompressed(t *testing.T) {
	w := newWorld(t)
	large, medium := strings.Repeat("glaze the clay\n", 200_000), strings.Repeat("fire the kiln\n", 500)
	binary := "\x00\x01" + medium
	w.kiln.Write("wire/large.txt", large)
	w.kiln.Write("wire/medium.txt", medium)
	w.kiln.Write("wire/binary", binary)
	var names []string
	for i := range 200 {
		names = append(names, "name-"+strconv.Itoa(1000+i))
		w.kiln.Write("wire/many/"+names[i], "x\n")
	}
	w.kiln.Commit("Wire")
	w.Sync("lab/kiln")
	for _, c := range []struct {
		path, text string
		zipped     bool
	}{
		{"large.txt", large, true}, {"medium.txt", medium, true}, {"binary", binary, false}, {"many/name-1000", "x\n", false}, {"many", strings.Join(names, "\n"), true},
	} {
		path := "/lab/kiln/-/raw/wire/" + c.path
		plain, zipped, part := w.get(path, "Accept-Encoding", "identity"), w.get(path, "Accept-Encoding", "gzip"), w.get(path, "Accept-Encoding", "gzip", "Range", "bytes=0-9")
		for _, a := range []answer{plain, part} {
			if a.status != 200 || a.body != c.text || a.header.Get("Content-Encoding") != "" || c.path != "many" && a.header.Get("Content-Length") != strconv.Itoa(len(c.text)) {
				t.Errorf("%s: %d, %d bytes as they are, %v", c.path, a.status, len(a.body), a.header)
			}
		}
		if got := zipped.header.Get("Content-Encoding") == "gzip"; got != c.zipped || !strings.Contains(strings.Join(zipped.header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: %v", c.path, zipped.header)
			continue
		}
		if !c.zipped {
			continue
		}
		z, err := gzip.NewReader(strings.NewReader(zipped.body))
		if err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		if text, err := io.ReadAll(z); err != nil || string(text) != c.text || len(zipped.body) > len(c.text)/4 {
			t.Errorf("%s: %d bytes, of %d compressed: %v", c.path, len(text), len(zipped.body), err)
		}
		if zipped.header.Get("Content-Length") == strconv.Itoa(len(c.text)) {
			t.Errorf("%s has the length of the text: %v", c.path, zipped.header)
		}
		t.Logf("%s: %d bytes, %d compressed", c.path, len(c.text), len(zipped.body))
	}
	for coding, want := range map[string]string{"identity": strconv.Itoa(len(medium)), "gzip": ""} {
		if got := w.ask("HEAD", "/lab/kiln/-/raw/wire/medium.txt", "Accept-Encoding", coding).header.Get("Content-Length"); got != want {
			t.Errorf("HEAD for %s: length %q, want %q", coding, got, want)
		}
	}
}
