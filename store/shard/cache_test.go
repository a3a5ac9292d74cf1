package shard

import (
	"fmt"
	"slices"
	"testing"
)

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

// What was taken last goes last, and what was used since it stood in front goes
// after that.
func TestFirstInLineGoesFirst(t *testing.T) {
	k := &cache{most: 5}
	var gone []int
	entries := make([]*cached, 15)
	for i := range entries {
		entries[i] = &cached{bytes: 1, spare: true, drop: func() { gone = append(gone, i) }}
		k.add(entries[i])
		if i == 6 {
			entries[3].touch()
		}
	}
	if want := []int{0, 1, 2, 4, 5, 6, 7, 3, 8, 9}; !slices.Equal(gone, want) {
		t.Errorf("%v went, want %v", gone, want)
	}
}

// textCache is a cache of chunks as readers use it.
type textCache struct {
	cache
	chunks  []*cached
	offered []sighting
}

func newTextCache(most, chunks int) *textCache {
	return &textCache{cache{most: int64(most) * chunkBytes}, make([]*cached, chunks), make([]sighting, chunks)}
}

// read reads chunks from first up to end and returns how many were kept.
func (c *textCache) read(first, end int) (hits int) {
	for i := first; i < end; i++ {
		if at := &c.chunks[i]; *at != nil {
			(*at).touch()
			hits++
		} else {
			c.offer(chunkBytes, &c.offered[i], func() *cached {
				*at = &cached{bytes: chunkBytes, spare: true, drop: func() { *at = nil }}
				return *at
			})
		}
	}
	return hits
}

// A cache full of what was read once takes what is read twice, and keeps it.
func TestCacheTakesWhatComesAgain(t *testing.T) {
	for _, part := range []int{1, 10, 100} {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			c := newTextCache(1000, 4000)
			c.read(0, 4000)
			c.read(3000, 3000+part)
			c.read(3000, 3000+part)
			if hits := c.read(3000, 3000+part); hits != part {
				t.Errorf("%d of %d chunks are kept when they are read a third time, want all", hits, part)
			}
			if size := c.size(); size > c.most {
				t.Errorf("%d bytes are held, want %d", size, c.most)
			}
		})
	}
}

// To read more than fits again and again comes to find most of what fits, whatever
// was there before.
func TestCacheKeepsItsPartOfAll(t *testing.T) {
	for chunks, least := range map[int]int{1100: 400, 1300: 400, 2000: 500, 8000: 600} {
		t.Run(fmt.Sprint(chunks), func(t *testing.T) {
			c := newTextCache(1000, chunks+1000)
			c.read(chunks, chunks+1000)
			for range 20 {
				c.read(0, chunks)
			}
			if hits := c.read(0, chunks); hits < least {
				t.Errorf("%d of %d chunks were found, want at least %d", hits, chunks, least)
			}
		})
	}
}
