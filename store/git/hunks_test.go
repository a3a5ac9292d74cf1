package git

import (
	"bytes"
	"fmt"
	"testing"
)

// TestHunks: what files were given stays theirs until the next commit, and the
// blocks that hold it take little more than it, however it comes.
func TestHunks(t *testing.T) {
	for _, test := range []struct {
		name              string
		files, size, line int
	}{
		{"many small", 20_000, 1000, 50}, {"as large as they may be", 8, MaxDiffBytes, 80}, {"odd", 30, 1_000_003, 7919},
		{"long lines", 9, 3 << 20, 1 << 20}, {"nothing", 5, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var h hunks
			for round := range 2 {
				h.clear()
				var got [][]byte
				for i := range test.files {
					h.begin()
					h.add([]byte("not wanted"))
					h.drop()
					line := bytes.Repeat(fmt.Append(nil, (i+round)%10), test.line)
					for left := test.size; left > 0; left -= min(left, len(line)) {
						h.add(line[:min(left, len(line))])
					}
					got = append(got, h.end())
				}
				for i, g := range got {
					if want := bytes.Repeat(fmt.Append(nil, (i+round)%10), test.size); !bytes.Equal(g, want) {
						t.Fatalf("round %d: file %d has %d bytes, or others than were added; want %d", round, i, len(g), test.size)
					}
				}
				held := 0
				for _, b := range h.blocks {
					held += cap(b)
				}
				if most := 2*test.files*test.size + 4*hunkBlockBytes; held > most || h.ended != test.files*test.size {
					t.Errorf("round %d: %d bytes are held for %d, want at most %d", round, held, h.ended, most)
				}
			}
		})
	}
}

// TestLittleHistoryTakesLittle: most repositories have a few commits.
func TestLittleHistoryTakesLittle(t *testing.T) {
	var h hunks
	h.begin()
	h.add([]byte("+glaze\n"))
	h.end()
	if got := cap(h.blocks[0]); got > firstHunkBytes {
		t.Errorf("a line of a diff takes %d bytes, want at most %d", got, firstHunkBytes)
	}
}
