//go:build !linux

package bench

// pageCache is the memory in which the system keeps files.
type pageCache struct{ method string }

func newPageCache() pageCache {
	return pageCache{"a new process only: this system's page cache is left as it is"}
}

func (c pageCache) ofFiles() pageCache { return c }

func (pageCache) empty([]string) error { return nil }
