package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/store"
)

// put commits records of one kind, each id with itself as value.
func put(t testing.TB, s *store.Store, kind store.RecordKind, ids ...string) {
	t.Helper()
	var c store.Records
	for _, id := range ids {
		c.Put(kind, []byte(id), []byte("="+id))
	}
	if err := s.CommitRecords(&c); err != nil {
		t.Fatal(err)
	}
}

// idsOf reads a range, at most n of it.
func idsOf(t testing.TB, s *store.Store, r store.RecordRange, n int) string {
	t.Helper()
	var got []string
	err := s.EachRecord(r, func(id, value []byte) (bool, error) {
		if string(value) != "="+string(id) {
			t.Errorf("record %q has the value %q", id, value)
		}
		got = append(got, string(id))
		return len(got) < n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(got, " ")
}

func TestRecords(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	put(t, s, store.RecordUser, "b", "a", "ab", "\xff\xff")
	put(t, s, store.RecordOrg, "a")
	for _, c := range []struct {
		r    store.RecordRange
		n    int
		want string
	}{
		{store.RecordRange{Kind: store.RecordUser}, 9, "a ab b \xff\xff"},
		{store.RecordRange{Kind: store.RecordUser}, 2, "a ab"},
		{store.RecordRange{Kind: store.RecordUser, Backwards: true}, 2, "\xff\xff b"},
		{store.RecordRange{Kind: store.RecordUser, Prefix: []byte("a")}, 9, "a ab"},
		{store.RecordRange{Kind: store.RecordUser, Prefix: []byte("\xff")}, 9, "\xff\xff"},
		{store.RecordRange{Kind: store.RecordUser, From: []byte("aa")}, 9, "ab b \xff\xff"},
		{store.RecordRange{Kind: store.RecordUser, Before: []byte("b")}, 9, "a ab"},
		{store.RecordRange{Kind: store.RecordUser, From: []byte("ab"), Before: []byte("c"), Backwards: true}, 9, "b ab"},
		{store.RecordRange{Kind: store.RecordUser, Prefix: []byte("b"), From: []byte("a")}, 9, "b"},
		{store.RecordRange{Kind: store.RecordToken}, 9, ""},
	} {
		if got := idsOf(t, s, c.r, c.n); got != c.want {
			t.Errorf("%+v, at most %d: got %q, want %q", c.r, c.n, got, c.want)
		}
	}
	if _, err := s.Record(store.RecordUser, []byte("none")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Record of an unknown id: got %v, want ErrNotFound", err)
	}
	var c store.Records
	c.Put(store.RecordName, []byte("x"), nil)
	c.Delete(store.RecordUser, []byte("a"))
	c.Delete(store.RecordUser, []byte("never there"))
	if err := s.CommitRecords(&c); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Record(store.RecordName, []byte("x")); err != nil || v == nil || len(v) > 0 {
		t.Errorf("an empty value: got %q, %v", v, err)
	}
	if got := idsOf(t, s, store.RecordRange{Kind: store.RecordUser}, 9); got != "ab b \xff\xff" {
		t.Errorf("after Delete: got %q", got)
	}
	stop := errors.New("stop")
	err := s.EachRecord(store.RecordRange{Kind: store.RecordUser}, func([]byte, []byte) (bool, error) { return true, stop })
	if !errors.Is(err, stop) {
		t.Errorf("EachRecord: got %v, want what its function returned", err)
	}
}

// Every acknowledged change is there after a crash, and each is there whole.
func TestRecordsSurviveACrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := open(t, fs)
	var crashed []*vfs.MemFS
	for i := range 20 {
		var c store.Records
		c.Put(store.RecordUser, fmt.Appendf(nil, "%02d", i), []byte("u"))
		c.Put(store.RecordName, fmt.Appendf(nil, "%02d", i), []byte("n"))
		if err := s.CommitRecords(&c); err != nil {
			t.Fatal(err)
		}
		crashed = append(crashed, fs.CrashClone(vfs.CrashCloneCfg{}))
	}
	closeStore(t, s)
	for i, fs := range crashed {
		s := open(t, fs)
		var users, names []string
		keep := func(to *[]string) func(id, value []byte) (bool, error) {
			return func(id, _ []byte) (bool, error) { *to = append(*to, string(id)); return true, nil }
		}
		if err := errors.Join(
			s.EachRecord(store.RecordRange{Kind: store.RecordUser}, keep(&users)),
			s.EachRecord(store.RecordRange{Kind: store.RecordName}, keep(&names)),
		); err != nil {
			t.Fatal(err)
		}
		if len(users) != i+1 || !slices.Equal(users, names) {
			t.Errorf("crash after commit %d: got users %q and names %q", i, users, names)
		}
		closeStore(t, s)
	}
}

// A store that cannot write any more serves the records as they were.
func TestRecordsOfABrokenStore(t *testing.T) {
	fs := newFailing()
	s := open(t, fs)
	put(t, s, store.RecordUser, "a")
	fs.set(func(op errorfs.Op) bool { return isWrite(op) && strings.HasSuffix(op.Path, ".log") })
	within(t, "CommitRecords", func() {
		for range 2 {
			var c store.Records
			c.Delete(store.RecordUser, []byte("a"))
			if err := s.CommitRecords(&c); !errors.Is(err, store.ErrBroken) {
				t.Errorf("CommitRecords without a log: %v, want ErrBroken", err)
			}
		}
	})
	if got := idsOf(t, s, store.RecordRange{Kind: store.RecordUser}, 9); got != "a" {
		t.Errorf("got %q, want the record whose removal failed", got)
	}
	if _, err := s.Record(store.RecordUser, []byte("a")); err != nil {
		t.Errorf("Record: %v", err)
	}
	fs.set(func(errorfs.Op) bool { return false })
	_ = s.Close() // a broken engine may complain
}

func TestDecodeRecord(t *testing.T) {
	for _, c := range []struct {
		value string
		want  string // part of the error, "" for none
	}{
		{`{"Name":"ann"}`, ""},
		{" {\"Name\":\"ann\"}\n", ""},
		{`{"Name":"ann","Newer":[1]}`, ""},

		{``, "unexpected end"},
		{`{"Name":"ann"`, "unexpected end"},
		{`{"Name":"ann"}{}`, "after top-level value"},
		{"{\"Name\":\"ann\"}\x00", "after top-level value"},
		{`{"Name":7}`, "cannot unmarshal number"},
		{`null`, "it is null"},
		{" null\n", "it is null"},
	} {
		var v struct{ Name string }
		err := store.DecodeRecord(store.RecordUser, []byte{0, 7}, []byte(c.value), &v)
		switch {
		case c.want == "" && (err != nil || v.Name != "ann"):
			t.Errorf("%q: got %+v, error %v; want ann", c.value, v, err)
		case c.want != "" && (!errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "record u 0007: ") || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: error %v, want ErrCorrupt of record u 0007 with %q", c.value, err, c.want)
		}
	}
}
