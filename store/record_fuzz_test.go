package store

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// FuzzRecords: whatever stands in one small record, the catalogue is read, and
// only what the record is about suffers: the other repository and the other shard
// are there as they were, every shard that a repository names is there or set
// aside, and what could not be read is told by a check as well.
func FuzzRecords(f *testing.F) {
	e, err := engine.Open("", engine.Options{FS: vfs.NewMem(), Event: func(string, error) {}})
	if err != nil {
		f.Fatal(err)
	}
	db := e.DB
	f.Cleanup(func() { _ = db.Close() })
	encode := func(v any) []byte {
		raw, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		return raw
	}
	repository := Repository{ID: 1, Name: "one", Shards: []uint32{1}, Branches: []Branch{{Name: "main", Commit: "c0ffee"}}}
	header := shard.Header{ID: 1, Documents: 3, Blocks: 4, TextBytes: 9, Index: shard.IndexNewest}
	good := map[string][]byte{string(keyRepository(1)): encode(repository), string(keyHeader(1)): encode(header)}
	two := repository
	two.ID, two.Name, two.Shards, two.History.Shards = 2, "two", []uint32{1, 2}, []uint32{3}
	other := header
	other.ID = 2
	for _, r := range []struct{ key, value []byte }{
		{keyRepository(2), encode(two)}, {keyRepository(2), []byte("null")}, {keyRepository(1), []byte("{}")},
		{keyHeader(2), encode(other)}, {keyHeader(2), []byte(`{"id":2,"blocks":70000}`)}, {keyHeader(1), []byte("null")},
		{keyDead(1), postings.Encode(nil, postings.NewSet(0, 2))}, {keyDead(1), []byte{0xff}},
		{keyAway(ShardRepository{1, 1}), encodeAway([]*postings.Set{nil, postings.NewSet(1)})}, {keyAway(ShardRepository{1, 1}), []byte{9}},
		{keyAside(1), encode(shard.Quarantine{Reason: "x"})}, {keyAside(1), []byte("null")}, {keyAside(7), nil},
		{keyPeople(1), encodePeople(People{{Name: "a", Email: "b"}: {Name: "c", Email: "d"}})}, {keyPeople(1), []byte{200}}, {keyPeople(9), nil},
		{keyNextRepository, []byte{1}}, {keyRecord(RecordUser, []byte{1}), nil}, {[]byte{prefixRecord}, nil}, {[]byte{prefixHeader, 0}, nil}, {[]byte("z"), nil},
	} {
		f.Add(r.key, r.value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if len(key) == 0 || key[0] == shard.Prefix {
			return // no small record
		}
		b := db.NewIndexedBatch()
		defer b.Close()
		for k, v := range good {
			if err := b.Set([]byte(k), v, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Set(key, value, nil); err != nil {
			t.Fatal(err)
		}
		c, err := load(b)
		if err != nil {
			if !errors.As(err, new(*IndexError)) {
				t.Fatalf("%x %q: %v, want no error but of a newer index", key, value, err)
			}
			return
		}
		if r := c.repository(1); string(key) != string(keyRepository(1)) && (r == nil || r.Name != "one" || r.Commit() != "c0ffee") {
			t.Errorf("%x %q: repository 1 is %+v", key, value, r)
		}
		if sh := c.shard(1); string(key) != string(keyHeader(1)) && (sh == nil || !reflect.DeepEqual(sh.Header, header)) {
			t.Errorf("%x %q: shard 1 is %+v", key, value, sh)
		}
		for _, id := range c.aside.Keys() {
			if c.shard(id) == nil {
				t.Errorf("%x %q: shard %d is set aside, but not there", key, value, id)
			}
		}
		c.holders.Scan(func(h holder) bool {
			if c.shard(h.shard) == nil {
				t.Errorf("%x %q: repository %d names shard %d, which is not there", key, value, h.repository, h.shard)
			}
			return true
		})
		checkIndexes(t, c)
		if _, found := faulty(c, key, value); len(c.unread) > 0 && !found {
			t.Errorf("%x %q: %q, but a check finds nothing", key, value, c.unread)
		}
	})
}

// FuzzPeople: people that are decoded are the same once encoded again, and bytes
// that are none are told.
func FuzzPeople(f *testing.F) {
	f.Add(encodePeople(People{{Name: "Ann", Email: "a@b"}: {Name: "Anne", Email: "a@c"}, {Name: "", Email: ""}: {Name: "x", Email: ""}}))
	f.Add([]byte{1, 'a', 1, 'b', 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, value []byte) {
		m, err := decodePeople(value)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%x: %v, want ErrCorrupt", value, err)
			}
			return
		}
		if again, err := decodePeople(encodePeople(m)); err != nil || !maps.Equal(m, again) {
			t.Errorf("%x: %v, encoded again %v, %v", value, m, again, err)
		}
	})
}
