package store

import (
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// destination is where writers of shards put what they write.
func (s *Store) destination() shard.Destination {
	return shard.Destination{
		FS: s.fs, Dir: s.index(), Options: s.tables, Budget: s.budget, Ingest: s.ingest, Update: s.update,
		Number: func() uint32 {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.nextShard++
			return s.nextShard - 1
		},
		Mark: func(id uint32, counts shard.SymbolCounts) error {
			return s.Commit(Change{Symbols: map[uint32]shard.SymbolCounts{id: counts}})
		},
	}
}

// NewShardWriter returns a writer of shards with nothing begun.
func (s *Store) NewShardWriter() *shard.Writer {
	return shard.NewWriter(s.destination(), postings.NewBuilder())
}

// NewSymbolWriter returns a writer of symbols with nothing begun.
func (s *Store) NewSymbolWriter() *shard.SymbolWriter { return shard.NewSymbolWriter(s.destination()) }
