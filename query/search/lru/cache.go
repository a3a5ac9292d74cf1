package lru

import (
	"container/list"
	"sync"
)

// Cache keeps the values that were used last, as many as fit its size. It is
// safe for concurrent use; the values are shared and not to be changed.
type Cache[K comparable, V any] struct {
	// most is the greatest size of all values together.
	most int

	mu    sync.Mutex // guards what follows; nothing is called while it is held
	size  int
	order list.List // of *cached, the last used in front
	byKey map[K]*list.Element
}

type cached[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// New returns a cache of values of at most so much size together.
func New[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{most: most, byKey: map[K]*list.Element{}}
}

// Get returns the value of a key, if it is still there.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached[K, V]).value, true
}

// Put keeps a value of a size, unless it is larger than the cache.
func (c *Cache[K, V]) Put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.remove(e)
	}
	if size > c.most {
		return
	}
	c.byKey[key] = c.order.PushFront(&cached[K, V]{key, value, size})
	for c.size += size; c.size > c.most; {
		c.remove(c.order.Back())
	}
}

// Drop forgets a value.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.remove(e)
	}
}

func (c *Cache[K, V]) remove(e *list.Element) {
	old := c.order.Remove(e).(*cached[K, V])
	delete(c.byKey, old.key)
	c.size -= old.size
}
