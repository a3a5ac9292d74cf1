package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// loader fills a catalogue with the records of a store that is opened.
type loader struct{ *catalogue }

// load reads the catalogue from disk. A corrupt record does not keep the others
// from being served: its shard is quarantined, or its repository counted as
// lost. It is an error only if the engine cannot list the records.
func load(db pebble.Reader) (*catalogue, error) {
	l := loader{newCatalogue()}
	for _, part := range []struct {
		prefix byte
		take   func(id uint32, key, value []byte)
	}{
		{prefixRepository, l.loadRepository},
		{prefixHeader, l.loadHeader},
		{prefixDead, l.loadDead},
		{prefixAway, l.loadAway},
	} {
		err := engine.Each(db, engine.Prefix([]byte{part.prefix}), func(key, value []byte) (bool, error) {
			id, err := recordID(key, part.prefix)
			if err != nil {
				l.unread = append(l.unread, err.Error())
				return true, nil
			}
			part.take(id, key, value)
			return true, nil
		})
		if err != nil {
			return nil, unreadable(err)
		}
	}
	// A shard of which only this record is left belongs to no repository.
	err := engine.Each(db, engine.Prefix([]byte{prefixAside}), func(key, value []byte) (bool, error) {
		if id, err := recordID(key, prefixAside); err == nil && l.shard(id) != nil {
			l.loadAside(id, value)
		}
		return true, nil
	})
	if err != nil {
		return nil, unreadable(err)
	}
	if err := l.readable(); err != nil {
		return nil, err
	}
	l.holders.Scan(func(h holder) bool {
		if l.shard(h.shard) == nil {
			l.setAside(h.shard, "its header is missing")
		}
		return true
	})
	return l.catalogue, nil
}

// readable fails with an *IndexError when a shard was written by a newer program.
func (c *catalogue) readable() error {
	var err error
	c.byNumber.Scan(func(id uint32, sh *shard.Shard) bool {
		if v := sh.Header.Index; v > shard.IndexNewest {
			err = &IndexError{Shard: id, Found: v, Known: shard.IndexNewest}
		}
		return err == nil
	})
	return err
}

// hasDamagedRecords reports whether records were damaged when c was loaded. What was
// found later has the time when it was.
func (c *catalogue) hasDamagedRecords() bool {
	damaged := len(c.unread) > 0
	c.aside.Scan(func(_ uint32, a *shard.Quarantine) bool {
		damaged = damaged || a.Since.IsZero()
		return !damaged
	})
	return damaged
}

// unreadable says what to do about a store whose records cannot be read.
func unreadable(err error) error {
	return fmt.Errorf("its records cannot be read: %w: %s", err, whatToDo)
}

// whatToDo about a directory that cannot be opened.
const whatToDo = "restore the directory from a backup; or move it away and index again, " +
	"which brings back all repositories but no users, tokens and settings"

func (l loader) loadRepository(id uint32, _, value []byte) {
	r, err := decodeRepository(id, value)
	if other := l.named(r.Name); err == nil && other != nil {
		err = fmt.Errorf("it has the name of repository %d", other.ID)
	}
	if err != nil {
		l.lost = append(l.lost, lostFrom(id, value))
		l.unread = append(l.unread, fmt.Sprintf("%s%v: %v", lostPrefix(id), ErrCorrupt, err))
		return
	}
	r.shareFetched(nil)
	l.putRepository(r)
}

func decodeRepository(id uint32, value []byte) (*Repository, error) {
	r := &Repository{}
	if err := json.Unmarshal(value, r); err != nil {
		return r, err
	}
	if r.ID != id || r.Name == "" {
		return r, errors.New("it is another's")
	}
	r.shareTexts()
	r.shareLists()
	return r, nil
}

func (l loader) loadHeader(id uint32, _, value []byte) {
	h, err := decodeHeader(id, value)
	if err != nil {
		l.setAside(id, fmt.Sprintf("its header is damaged: %v", err))
		return
	}
	l.putShard(shard.New(id, *h))
}

func decodeHeader(id uint32, value []byte) (*shard.Header, error) {
	h := &shard.Header{}
	if err := json.Unmarshal(value, h); err != nil {
		return nil, err
	}
	if h.ID != id || h.Documents < 0 || h.Blocks < 0 || h.Blocks > postings.MaxBlocks || h.Documents > h.Blocks || h.Index < shard.IndexFoldedLists {
		return nil, errors.New("it makes no sense")
	}
	return h, nil
}

// A record of a shard that is not there is of no consequence.
func (l loader) loadDead(id uint32, _, value []byte) {
	set := &postings.Set{}
	err := set.Decode(value)
	switch {
	case err == nil:
		l.dead.Set(id, set)
	case l.shard(id) != nil:
		l.setAside(id, fmt.Sprintf("the record of its dead documents is damaged: %v", err))
	}
}

// recordID returns the ID that the key of a small record has behind its prefix.
func recordID(key []byte, prefix byte) (uint32, error) {
	want := len(keyID(prefix, 0))
	if prefix == prefixAway {
		want = len(keyAway(ShardRepository{}))
	}
	if len(key) != want {
		return 0, fmt.Errorf("key %x: %w", key, ErrCorrupt)
	}
	return binary.BigEndian.Uint32(key[1:]), nil
}

// loadAway takes a record into the catalogue.
func (l loader) loadAway(id uint32, key, value []byte) {
	of := ShardRepository{id, binary.BigEndian.Uint32(key[5:])}
	sets, err := decodeAway(value)
	switch {
	case err == nil:
		l.setAway(of, sets)
	case l.shard(id) != nil:
		l.setAside(id, fmt.Sprintf("the record of what its branches hold is damaged: %v", err))
		l.setAway(of, []*postings.Set{}) // so that it goes with the shard
	}
}

// loadAside takes the record of a quarantined shard into the catalogue. Its
// damage is not worth failing for.
func (l loader) loadAside(id uint32, value []byte) {
	a := &shard.Quarantine{}
	if err := json.Unmarshal(value, a); err != nil {
		a.Reason = "damaged, and so is the record that says how"
	}
	if old, found := l.aside.Get(id); found {
		a.Reason = old.Reason
	}
	l.aside.Set(id, a)
}

// setAside is for what is found when the store is opened; the first reason
// stays.
func (l loader) setAside(id uint32, reason string) {
	if l.shard(id) == nil {
		l.putShard(shard.New(id, shard.Header{ID: id}))
	}
	if _, found := l.aside.Get(id); !found {
		l.aside.Set(id, &shard.Quarantine{Reason: reason})
	}
}
