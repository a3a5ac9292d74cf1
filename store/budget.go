package store

import "sync"

// restBytes is what the engine keeps in its cache over a rest: the posting
// lists and texts that were wanted most often, so that the first search after
// it does not find everything gone.
const restBytes = 32 << 20

// Rest drops most of what is kept of shards in memory, for a time in which
// nobody searches. It is read again as it is wanted.
func (s *Store) Rest() {
	s.cache.trim()
	if n := s.engineBytes - restBytes; n > 0 {
		s.blocks.Reserve(int(n))()
	}
}

// Borrow makes the caches smaller by so many bytes, for somebody who needs
// them for a while, and returns what gives them back.
func (s *Store) Borrow(bytes int64) (giveBack func()) {
	engine := bytes * engineShare / 8
	release := s.blocks.Reserve(int(engine))
	s.cache.resize(engine - bytes)
	return sync.OnceFunc(func() {
		release()
		s.cache.resize(bytes - engine)
	})
}
