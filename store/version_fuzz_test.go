package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store/disk"
)

// FuzzFormat: whatever stands in the format file, it is a version that is
// written as it was read, or damage; never a directory without a store, in which
// a new one would be made.
func FuzzFormat(f *testing.F) {
	for _, text := range []string{"1\n", "2\n", "2", "", "\n", "0\n", "-1\n", "+2\n", "02\n", "0x2", "2 2", "4294967296\n", "4294967295\n", "2\x00", strings.Repeat(" ", 63) + "12", strings.Repeat("1", 65)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fs := vfs.NewMem()
		if err := fs.MkdirAll("data", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := disk.WriteSynced(fs, "data/FORMAT", text); err != nil {
			t.Fatal(err)
		}
		v, err := readFormat(fs, "data/FORMAT")
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%q: got %v, want ErrCorrupt", text, err)
			}
			return
		}
		if v == 0 {
			t.Fatalf("%q: taken for no store", text)
		}
		var newer *FormatError
		if got, err := knownFormat(fs, "data"); v > FormatNewest != errors.As(err, &newer) || err == nil && got != v {
			t.Errorf("%q: version %d, got %d, %v", text, v, got, err)
		}
		if err := writeFormat(fs, "data", v); err != nil {
			t.Fatal(err)
		}
		if again, err := readFormat(fs, "data/FORMAT"); again != v || err != nil {
			t.Errorf("%q: version %d, written and read again %d, %v", text, v, again, err)
		}
	})
}

// FuzzNumberHeader: a header of the first format gets an index version and keeps
// everything else; a second time nothing happens to it.
func FuzzNumberHeader(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"exact":true}`, `{"exact":false,"documents":7,"x":{"y":[1, 2]}}`, `{"index":2,"exact":true}`, `{"index":null}`, `{"exact":"true"}`, `{"exact": true }`,
		`{"Exact":true,"INDEX":9}`, `{"exact":true,"exact":false}`, `{"a":1e999,"b":"\ud800"}`, `null`, `[]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		header := map[string]json.RawMessage{}
		if json.Unmarshal(value, &header) != nil || header == nil {
			return // eachHeader leaves it out
		}
		before := maps.Clone(header)
		out := numberHeader(value, header)
		if !maps.EqualFunc(before, header, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Errorf("%q: the header it was given has changed", value)
		}
		after := map[string]json.RawMessage{}
		if err := json.Unmarshal(out, &after); err != nil || !numbered(after) {
			t.Fatalf("%q: got %q, %v, want an index version", value, out, err)
		}
		if again := numberHeader(out, after); !bytes.Equal(again, out) {
			t.Errorf("%q: got %q, and then %q", value, out, again)
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			var a, b bytes.Buffer
			if name == "exact" || name == "index" {
				continue
			}
			if json.Compact(&a, before[name]) != nil || json.Compact(&b, after[name]) != nil {
				t.Errorf("%q: %q of %q is gone", value, name, out)
				continue
			}
			// What HTML would take for markup is escaped.
			var escaped bytes.Buffer
			json.HTMLEscape(&escaped, a.Bytes())
			if !bytes.Equal(escaped.Bytes(), b.Bytes()) && !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%q: %q was %s and is %s", value, name, a.Bytes(), b.Bytes())
			}
		}
	})
}
