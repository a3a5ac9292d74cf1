package table_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

type jar struct {
	ID    uint32 `json:"id"`
	Glaze string `json:"glaze,omitempty"`
}

// shelf is where a jar stands, as a record of fixed size.
type shelf struct {
	Row  byte
	Jars uint32
}

var (
	jars    = table.JSON(store.RecordUser, "jar", table.Own(func(j *jar) uint32 { return j.ID }))
	pairs   = table.JSON[[2]uint32, jar](store.RecordToken, "pair", nil)
	shelves = table.Binary[string, shelf](store.RecordName, "shelf")
	marks   = table.Binary[[2]uint32, struct{}](store.RecordMember, "mark")
	notes   = table.Bytes(store.RecordSite, "note", func(key string, value *[]byte) error {
		if key == "" {
			return errors.New("it has no name")
		}
		return nil
	})
)

func open(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 1 << 20, ListBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// commit applies a change.
func commit(t testing.TB, st *store.Store, f func(c *store.Records) error) {
	t.Helper()
	var c store.Records
	if err := errors.Join(f(&c), st.CommitRecords(&c)); err != nil {
		t.Fatal(err)
	}
}

// raw stores bytes as they are.
func raw(t testing.TB, st *store.Store, kind store.RecordKind, id, value string) {
	t.Helper()
	commit(t, st, func(c *store.Records) error {
		c.Put(kind, []byte(id), []byte(value))
		return nil
	})
}

// TestBytesOnDisk pins what each way to keep a record looks like in the store:
// directories of older versions are read by it.
func TestBytesOnDisk(t *testing.T) {
	st := open(t)
	commit(t, st, func(c *store.Records) error {
		return errors.Join(
			jars.Put(c, 1, &jar{ID: 1, Glaze: "<ash>"}),
			jars.Put(c, math.MaxUint32, &jar{ID: math.MaxUint32}),
			pairs.Put(c, [2]uint32{1, 258}, &jar{}),
			shelves.Put(c, "top", &shelf{'t', 7}),
			marks.Put(c, [2]uint32{0, 1}, &struct{}{}),
			notes.Put(c, "id", &[]byte{0, 255}))
	})
	for _, c := range []struct {
		kind      store.RecordKind
		id, value string
	}{
		{store.RecordUser, "\x00\x00\x00\x01", `{"id":1,"glaze":"\u003cash\u003e"}`},
		{store.RecordUser, "\xff\xff\xff\xff", `{"id":4294967295}`},
		{store.RecordToken, "\x00\x00\x00\x01\x00\x00\x01\x02", `{"id":0}`},
		{store.RecordName, "top", "t\x00\x00\x00\x07"},
		{store.RecordMember, "\x00\x00\x00\x00\x00\x00\x00\x01", ""},
		{store.RecordSite, "id", "\x00\xff"},
	} {
		if value, err := st.Record(c.kind, []byte(c.id)); err != nil || string(value) != c.value {
			t.Errorf("record %c %x: got %q, %v; want %q", c.kind, c.id, value, err, c.value)
		}
	}
	type place struct {
		Kind byte
		At   uint32
	}
	for _, c := range []struct {
		key  any
		want string
	}{
		{uint32(0), "00000000"},
		{uint64(math.MaxUint64), "ffffffffffffffff"},
		{place{'s', 2}, "7300000002"},
		{[3]byte{1, 2, 3}, "010203"},
		{"", ""},
	} {
		if got := hex.EncodeToString(table.ID(c.key)); got != c.want {
			t.Errorf("ID(%v): got %s, want %s", c.key, got, c.want)
		}
	}
}

func TestGetPutDelete(t *testing.T) {
	st := open(t)
	for _, id := range []uint32{0, 1, math.MaxUint32} {
		if _, err := jars.Get(st, id); !errors.Is(err, store.ErrNotFound) || err.Error() != fmt.Sprintf("jar %d: not found", id) {
			t.Errorf("jar %d before it is put: got %v", id, err)
		}
		if _, err := jars.Lookup(st, id); err != store.ErrNotFound {
			t.Errorf("jar %d: got %v, want ErrNotFound and nothing around it", id, err)
		}
		commit(t, st, func(c *store.Records) error { return jars.Put(c, id, &jar{ID: id, Glaze: "ash"}) })
		if j, err := jars.Get(st, id); err != nil || *j != (jar{id, "ash"}) {
			t.Errorf("jar %d: got %+v, %v", id, j, err)
		}
		commit(t, st, func(c *store.Records) error {
			jars.Delete(c, id)
			jars.Delete(c, id+1) // it is not there
			return nil
		})
		if _, err := jars.Get(st, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("jar %d after it is deleted: got %v", id, err)
		}
	}
	var c store.Records
	if err := jars.Put(&c, 3, &jar{ID: 4}); err == nil || !c.Empty() {
		t.Errorf("a jar under the key of another: got %v, empty %t; want an error and no change", err, c.Empty())
	}
	if err := notes.Put(&c, "", &[]byte{}); err == nil || !c.Empty() {
		t.Errorf("a note that its check refuses: got %v, empty %t; want an error and no change", err, c.Empty())
	}
}

// damaged are records that no table takes for sound.
var damaged = []struct {
	kind      store.RecordKind
	id, value string
	why       string
}{
	{store.RecordUser, "\x00\x00\x00\x02", "{", "unexpected end"},
	{store.RecordUser, "\x00\x00\x00\x03", "null", "it is null"},
	{store.RecordUser, "\x00\x00\x00\x04", "", "unexpected end"},
	{store.RecordUser, "\x00\x00\x00\x05", "{}", "it is that of 0"},
	{store.RecordUser, "\x00\x00\x00\x06", `{"id":1}`, "it is that of 1"},
	{store.RecordUser, "\x00\x00\x00\x07", `{"id":-1}`, "cannot unmarshal"},
	{store.RecordUser, "", `{"id":1}`, "its id has 0 bytes, want 4"},
	{store.RecordUser, "\x00\x00\x01", `{"id":1}`, "its id has 3 bytes, want 4"},
	{store.RecordUser, "\x00\x00\x00\x01\x00", `{"id":1}`, "its id has 5 bytes, want 4"},
	{store.RecordName, "low", "t\x00\x00\x00", "4 bytes, want 5"},
	{store.RecordName, "high", "t\x00\x00\x00\x01\x00", "6 bytes, want 5"},
	{store.RecordName, "none", "", "0 bytes, want 5"},
	{store.RecordMember, "\x00\x00\x00\x00\x00\x00\x00\x02", "x", "1 bytes, want 0"},
	{store.RecordMember, "\x00\x00\x00\x00", "", "its id has 4 bytes, want 8"},
	{store.RecordSite, "", "x", "it has no name"},
}

// reading is one table without its types.
type reading struct {
	get    func(st *store.Store, id []byte) error
	each   func(st *store.Store, damaged func(store.RecordKind, []byte, error)) (n int, err error)
	verify func(st *store.Store, report func(store.FaultyRecord)) error
}

func readingOf[K comparable, T any](tab *table.Table[K, T]) reading {
	return reading{
		func(st *store.Store, id []byte) error {
			key, err := tab.Key(id)
			if err == nil {
				_, err = tab.Get(st, key)
			}
			return err
		},
		func(st *store.Store, damaged func(store.RecordKind, []byte, error)) (int, error) {
			all, err := tab.All(st, store.RecordRange{}, damaged)
			return len(all), err
		},
		func(st *store.Store, report func(store.FaultyRecord)) error { return tab.Verify(st, report, nil, nil) },
	}
}

var readings = map[store.RecordKind]reading{
	store.RecordUser: readingOf(jars), store.RecordName: readingOf(shelves), store.RecordMember: readingOf(marks), store.RecordSite: readingOf(notes),
}

// TestDamagedRecords: a record that does not decode, or is that of another key,
// is ErrCorrupt to who reads it. It is reported, and left out of a list that is
// asked to do without it; any other list ends.
func TestDamagedRecords(t *testing.T) {
	for _, c := range damaged {
		t.Run(fmt.Sprintf("%c %x %q", c.kind, c.id, c.value), func(t *testing.T) {
			st, tab := open(t), readings[c.kind]
			raw(t, st, c.kind, c.id, c.value)
			sound := map[store.RecordKind][2]string{
				store.RecordUser: {"\x00\x00\x00\x01", `{"id":1}`}, store.RecordName: {"top", "t\x00\x00\x00\x07"},
				store.RecordMember: {"\x00\x00\x00\x00\x00\x00\x00\x01", ""}, store.RecordSite: {"id", ""},
			}[c.kind]
			raw(t, st, c.kind, sound[0], sound[1])

			if err := tab.get(st, []byte(c.id)); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("get: got %v, want ErrCorrupt and %q", err, c.why)
			}
			var told []string
			n, err := tab.each(st, func(kind store.RecordKind, id []byte, err error) {
				if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.why) {
					t.Errorf("told of %v, want ErrCorrupt and %q", err, c.why)
				}
				told = append(told, fmt.Sprintf("%c%s", kind, id))
			})
			if want := []string{fmt.Sprintf("%c%s", c.kind, c.id)}; n != 1 || err != nil || !slices.Equal(told, want) {
				t.Errorf("list without damaged records: %d, %v, told of %q; want the sound one, and to be told of %q", n, err, told, want)
			}
			if _, err := tab.each(st, nil); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("list of all records: got %v, want ErrCorrupt", err)
			}
			var faults []store.FaultyRecord
			if err := tab.verify(st, func(f store.FaultyRecord) { faults = append(faults, f) }); err != nil {
				t.Fatal(err)
			}
			if len(faults) != 1 || !bytes.HasSuffix(faults[0].Key, []byte(c.id)) || !strings.Contains(faults[0].Problem, c.why) || faults[0].Stray {
				t.Errorf("verify: got %+v, want the damaged record with %q", faults, c.why)
			}
		})
	}
}

func TestLists(t *testing.T) {
	st := open(t)
	for name, in := range map[string]store.RecordRange{"all": {}, "of a prefix": {Prefix: table.ID(uint32(1))}, "backwards": {Backwards: true}} {
		if all, err := pairs.All(st, in, nil); all == nil || len(all) != 0 || err != nil {
			t.Errorf("%s of an empty table: got %v, %v; want an empty list", name, all, err)
		}
	}
	keys := [][2]uint32{{0, 0}, {1, 0}, {1, 255}, {1, 256}, {256, 1}, {math.MaxUint32, math.MaxUint32}}
	commit(t, st, func(c *store.Records) error {
		var err error
		for _, k := range slices.Backward(keys) {
			err = errors.Join(err, pairs.Put(c, k, &jar{ID: k[1]}))
		}
		return errors.Join(err, jars.Put(c, 1, &jar{ID: 1})) // of another kind
	})
	backwards := slices.Clone(keys)
	slices.Reverse(backwards)
	for _, c := range []struct {
		name string
		in   store.RecordRange
		most int
		want [][2]uint32
	}{
		{"all", store.RecordRange{}, 9, keys},
		{"backwards", store.RecordRange{Backwards: true}, 9, backwards},
		{"of a prefix", store.RecordRange{Prefix: table.ID(uint32(1))}, 9, keys[1:4]},
		{"of the last prefix", store.RecordRange{Prefix: table.ID(uint32(math.MaxUint32))}, 9, keys[5:]},
		{"from one to another", store.RecordRange{From: table.ID(keys[2]), Before: table.ID(keys[4])}, 9, keys[2:4]},
		{"of another kind", store.RecordRange{Kind: store.RecordUser}, 9, keys},
		{"the first two", store.RecordRange{}, 2, keys[:2]},
	} {
		var got [][2]uint32
		err := pairs.Each(st, c.in, nil, func(k [2]uint32, v *jar) (bool, error) {
			if v.ID != k[1] {
				t.Errorf("%s: %v has the value %+v", c.name, k, v)
			}
			got = append(got, k)
			return len(got) < c.most, nil
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// TestEachError: an error of the function ends a list, unless it is that of
// another record which is damaged.
func TestEachError(t *testing.T) {
	st := open(t)
	commit(t, st, func(c *store.Records) error {
		return errors.Join(jars.Put(c, 1, &jar{ID: 1}), jars.Put(c, 2, &jar{ID: 2}))
	})
	stop := errors.New("stop")
	for _, c := range []struct {
		name       string
		fails      error
		without    bool
		calls      int
		told       int
		wantsError bool
	}{
		{"an error", stop, false, 1, 0, true},
		{"an error, without damaged records", stop, true, 1, 0, true},
		{"damage", fmt.Errorf("lid: %w", store.ErrCorrupt), false, 1, 0, true},
		{"damage, without damaged records", fmt.Errorf("lid: %w", store.ErrCorrupt), true, 2, 2, false},
	} {
		calls, told := 0, 0
		var damaged func(store.RecordKind, []byte, error)
		if c.without {
			damaged = func(_ store.RecordKind, _ []byte, err error) {
				if told++; !errors.Is(err, c.fails) {
					t.Errorf("%s: told of %v", c.name, err)
				}
			}
		}
		err := jars.Each(st, store.RecordRange{}, damaged, func(uint32, *jar) (bool, error) {
			calls++
			return true, c.fails
		})
		if calls != c.calls || told != c.told || errors.Is(err, c.fails) != c.wantsError {
			t.Errorf("%s: got %d calls, %d told, %v; want %d, %d, an error %t", c.name, calls, told, err, c.calls, c.told, c.wantsError)
		}
	}
}

// TestVerify: a function adds what else has to hold, for sound records, and says
// which of the others can be deleted.
func TestVerify(t *testing.T) {
	st := open(t)
	if err := jars.Verify(st, func(f store.FaultyRecord) { t.Errorf("an empty table: %+v", f) }, nil, nil); err != nil {
		t.Error(err)
	}
	commit(t, st, func(c *store.Records) error {
		return errors.Join(jars.Put(c, 1, &jar{ID: 1}), jars.Put(c, 2, &jar{ID: 2, Glaze: "none"}))
	})
	raw(t, st, store.RecordUser, "\x00\x00\x00\x03", "{")
	var got []string
	stray := func(id []byte) bool { return id[3] == 3 }
	err := jars.Verify(st, func(f store.FaultyRecord) { got = append(got, fmt.Sprintf("%s stray %t", f.Problem, f.Stray)) }, stray, func(key uint32, j *jar) error {
		if key != j.ID || j.Glaze != "" {
			return errors.New("no such glaze")
		}
		return nil
	})
	if err != nil || len(got) != 2 || got[0] != "jar 00000002: no such glaze stray false" ||
		!strings.HasPrefix(got[1], "jar 00000003: ") || !strings.HasSuffix(got[1], " stray true") {
		t.Errorf("got %q, %v; want a jar with another glaze, and a damaged one that can be deleted", got, err)
	}
}

// A key that has no fixed size would give records without an order.
func TestKeyWithoutFixedSize(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("an int is taken for a key, want a panic")
		}
	}()
	table.ID(7)
}
