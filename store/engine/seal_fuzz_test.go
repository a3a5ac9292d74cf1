package engine

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSeal: a seal is read as it was written, also by a reader that does not
// know where it ends, and is refused after any flipped bit.
func FuzzSeal(f *testing.F) {
	f.Add("MANIFEST-000007", []byte("manifest"), uint32(20), []byte("MANIFEST-000007 8 0123456789abcdef\n0123456789abcdef\n"))
	f.Add("m", []byte{}, uint32(0), []byte("m -1 0\n0\n"))
	f.Fuzz(func(t *testing.T, name string, manifest []byte, bit uint32, text []byte) {
		if _, length, _, ok := parseSeal(text); ok && length < 0 {
			t.Errorf("%q: a length of %d", text, length)
		}
		if len(strings.Fields(name)) != 1 || strings.TrimSpace(name) != name || !utf8.ValidString(name) {
			return // no name of a file of the engine's
		}
		seal := sealOf(name, manifest)
		got, length, sum, ok := parseSeal(seal)
		if !ok || got != name || length != len(manifest) {
			t.Fatalf("%q is read as %q, %d, %v", seal, got, length, ok)
		}
		bit %= uint32(8 * len(seal))
		flipped := bytes.Clone(seal)
		flipped[bit/8] ^= 1 << (bit % 8)
		if got, l, s, ok := parseSeal(flipped); ok && (got != name || l != length || s != sum) {
			t.Errorf("%q is taken for a seal of %q, %d bytes", flipped, got, l)
		}
	})
}

// FuzzManifest: a manifest is good however it was cut off, and damaged when a bit
// of any record but the last was flipped.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("a version edit"), uint16(3), uint32(100), []byte("rubbish"))
	f.Add(bytes.Repeat([]byte{7}, 5000), uint16(12), uint32(70_000), []byte{})
	f.Add([]byte{0}, uint16(1), uint32(0), bytes.Repeat([]byte{0}, 100))
	f.Fuzz(func(t *testing.T, record []byte, records uint16, at uint32, text []byte) {
		_ = checkManifest(text)
		all := slices.Repeat([][]byte{record}, min(int(records)%16, 1+1<<18/max(1, len(record))))
		manifest, ends := manifestOf(t, all...)
		if err := checkManifest(manifest); err != nil {
			t.Fatalf("%d records of %d bytes: %v", records%16, len(record), err)
		}
		if len(manifest) == 0 {
			return
		}
		if cut := at % uint32(len(manifest)); checkManifest(manifest[:cut]) != nil {
			t.Errorf("%d records of %d bytes, cut at %d: damaged", records%16, len(record), cut)
		}
		if len(ends) < 2 {
			return
		}
		bit := at % uint32(8*ends[len(ends)-2])
		padding := inPadding(manifest, int(bit/8))
		manifest[bit/8] ^= 1 << (bit % 8)
		if checkManifest(manifest) == nil && !padding {
			t.Errorf("%d records of %d bytes, bit %d flipped: good", records%16, len(record), bit)
		}
	})
}
