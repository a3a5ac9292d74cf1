package service

import (
	"testing"

	"github.com/trawlsearch/trawl/store/shard"
)

// TestDivide: whatever the setting is, the shares that are held at one time
// leave room for garbage below the limit of the runtime, and none is too small
// to work with.
func TestDivide(t *testing.T) {
	for _, mib := range []int64{128, 256, 512, 1 << 10, 2 << 10, 8 << 10, 64 << 10, 1 << 20} {
		memory := mib << 20
		s := divide(memory)
		held := s.caches + s.large - shard.ForeignBytes(s.caches)
		// While something is written the caches lend what the lists may take.
		writing := held + max(s.lists-s.caches, 0)
		if mib >= 256 && (s.runtime > memory || writing > s.runtime*9/10) {
			t.Errorf("divide(%d MiB): got %+v, caches, lists and large texts take %d of the runtime's %d", mib, s, writing, s.runtime)
		}
		if s.runtime < memory/2 || s.caches < memory/4 || s.lists < leastListBytes || s.large < leastLargeBytes || s.searches < leastSearches {
			t.Errorf("divide(%d MiB): got %+v, a share is too small", mib, s)
		}
		if s.lists > mostListBytes {
			t.Errorf("divide(%d MiB): got lists of %d bytes, more than a shard needs", mib, s.lists)
		}
	}
}
