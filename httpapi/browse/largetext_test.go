package browse

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestWindowWriter: a text that comes in parts has the windows, lines and counts that it has
// when it is whole.
func TestWindowWriter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "é", "<", "\r", "\n", "\n", "\r\n", "\u202e", "\xff", strings.Repeat("x", 3000), strings.Repeat("<&", 20_000), strings.Repeat("\U0001F600", 5000)}
	for round := range 100 {
		var text []byte
		for range random.IntN(60) {
			text = append(text, parts[random.IntN(len(parts))]...)
		}
		if len(text) == 0 {
			continue
		}
		most := 1 + random.IntN(40)
		line := random.IntN(120)
		win := windowOfLines(text, line, most)
		want := newLineWriter(win.first, win)
		want.write("", string(text[win.start:win.end]))
		w := newWindowWriter(line, most)
		for rest := text; len(rest) > 0; {
			n := min(1+random.IntN(5000), len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		lines, got := w.end()
		got.start, got.end = win.start, win.end
		if got != win {
			t.Fatalf("round %d: line %d of windows of %d: got %+v, want %+v", round, line, most, got, win)
		}
		if want := want.end(); !reflect.DeepEqual(lines, want) {
			t.Fatalf("round %d: line %d of windows of %d: got %.300v, want %.300v", round, line, most, lines, want)
		}
		if n := len(w.lines); n > most {
			t.Fatalf("%d lines are held, want %d", n, most)
		}
	}
	w := newWindowWriter(0, 10)
	_, _ = w.Write([]byte("text"))
	_, _ = w.Write([]byte("\x00\n"))
	if !w.binary {
		t.Error("a zero at the beginning is no sign of a binary")
	}
}
