package lru

import "testing"

func TestCache(t *testing.T) {
	c := New[string, int](10)
	c.Put("a", 1, 4)
	c.Put("b", 2, 4)
	if v, ok := c.Get("a"); !ok || v != 1 {
		t.Errorf("a: got %d, %v, want 1", v, ok)
	}
	c.Put("c", 3, 4) // b was used longest ago
	for key, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, ok := c.Get(key); ok != want {
			t.Errorf("%s is kept: %v, want %v", key, ok, want)
		}
	}
	// A value that grows, one that is too large for all, and one that goes.
	c.Put("a", 4, 6)
	if v, _ := c.Get("a"); v != 4 || c.size != 10 {
		t.Errorf("got a = %d and size %d, want 4 and 10", v, c.size)
	}
	c.Put("d", 5, 11)
	c.Drop("a")
	c.Drop("a")
	if _, ok := c.Get("d"); ok || c.size != 4 || c.order.Len() != 1 || len(c.byKey) != 1 {
		t.Errorf("got d: %v, size %d, %d values in order and %d by key, want c only", ok, c.size, c.order.Len(), len(c.byKey))
	}
	c.Put("c", 6, 11)
	if c.size != 0 || c.order.Len() != 0 {
		t.Errorf("a value that outgrew the cache is still there: size %d, %d values", c.size, c.order.Len())
	}
}
