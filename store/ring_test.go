package store

import "testing"

// Text that is read again for little never takes the place of a table, however
// much of it is read and however long ago the table was used.
func TestSparesGoFirst(t *testing.T) {
	k := &cache{most: 100}
	gone := map[string]int{}
	entry := func(name string, bytes int64, spare bool) *cached {
		return &cached{bytes: bytes, spare: spare, drop: func() { gone[name]++ }}
	}
	k.add(entry("table", 60, false))
	for range 50 {
		text := entry("text", 10, true)
		k.add(text)
		text.touch()
	}
	if gone["table"] != 0 || gone["text"] != 46 || k.size() != 100 {
		t.Errorf("%d tables and %d of 50 texts went, %d bytes are held; want 0, 46 and 100", gone["table"], gone["text"], k.size())
	}
	k.add(entry("table", 60, false))
	if gone["table"] != 1 || gone["text"] != 50 || k.size() != 60 {
		t.Errorf("%d tables and %d texts went, %d bytes are held; want 1, 50 and 60", gone["table"], gone["text"], k.size())
	}
}
