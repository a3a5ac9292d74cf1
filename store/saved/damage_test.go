package saved_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// TestDamagedRecordsStopNothing: search jobs and saved searches that cannot be
// read, or say that they are another, are left out of lists and told; the others
// are there, and can be removed whatever they say of themselves.
func TestDamagedRecordsStopNothing(t *testing.T) {
	st := open(t, vfs.NewMem())
	defer st.Close()
	var told []string
	b := saved.Open(st, saved.Options{Damaged: func(kind store.RecordKind, id []byte, err error) {
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%c %x: %v, want ErrCorrupt", kind, id, err)
		}
		told = append(told, fmt.Sprintf("%c %x", kind, id))
	}})
	job, err := b.Jobs.Add("kiln", 1)
	if err != nil {
		t.Fatal(err)
	}
	search, err := b.Searches.Add(saved.Search{Query: "kiln"})
	if err != nil {
		t.Fatal(err)
	}
	var c store.Records
	id := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for _, kind := range []store.RecordKind{store.RecordJob, store.RecordSavedSearch} {
		c.Put(kind, id(7), []byte("{"))
		c.Put(kind, id(8), []byte("{}"))
		c.Put(kind, id(9), []byte(`{"id":1,"state":"QUEUED"}`))
		c.Put(kind, []byte{1}, []byte(`{"id":1}`))
	}
	// It says that it has billions of parts, and has one.
	c.Put(store.RecordJob, id(job.ID), fmt.Appendf(nil, `{"id":%d,"query":"kiln","state":"QUEUED","parts":4294967295,"done":4294967295}`, job.ID))
	c.Put(store.RecordJobResult, append(id(job.ID), id(3)...), []byte("found"))
	if err := st.CommitRecords(&c); err != nil {
		t.Fatal(err)
	}

	jobs, err := b.Jobs.All()
	if err != nil || len(jobs) != 1 || jobs[0].ID != job.ID {
		t.Errorf("jobs: got %v, %v; want the sound one", jobs, err)
	}
	searches, err := b.Searches.All()
	if err != nil || len(searches) != 1 || searches[0].ID != search.ID {
		t.Errorf("saved searches: got %v, %v; want the sound one", searches, err)
	}
	if slices.Sort(told); len(told) != 8 {
		t.Errorf("told of %q, want 4 jobs and 4 searches", told)
	}
	for _, n := range []uint32{7, 8, 9} {
		if _, err := b.Jobs.Get(n); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("job %d: got %v, want ErrCorrupt", n, err)
		}
	}
	if j, err := b.Jobs.Rewind(job.ID); err != nil || j.Parts != 0 {
		t.Errorf("rewind: got %+v, %v; want no parts", j, err)
	}
	if err := b.Jobs.Remove(job.ID); err != nil {
		t.Error(err)
	}
	left := store.RecordRange{Kind: store.RecordJobResult, Prefix: binary.BigEndian.AppendUint32(nil, job.ID)}
	if err := st.EachRecord(left, func(_, part []byte) (bool, error) { return true, fmt.Errorf("%q is left", part) }); err != nil {
		t.Error(err)
	}
}

// TestRecordOfAnother: settings and external services under the key of others
// are damage. One flipped bit of a key gives no user the settings of another,
// or the credentials of another service.
func TestRecordOfAnother(t *testing.T) {
	st := open(t, vfs.NewMem())
	defer st.Close()
	b := saved.Open(st, saved.Options{})
	ann, bob := saved.Subject{Kind: saved.SubjectUser, ID: 1}, saved.Subject{Kind: saved.SubjectUser, ID: 2}
	if _, err := b.Settings.Change(ann, 1, 0, func(string) (string, error) { return "{}", nil }); err != nil {
		t.Fatal(err)
	}
	service, err := b.Services.Add(saved.Service{Kind: "github", Config: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	var c store.Records
	for _, r := range []struct {
		kind     store.RecordKind
		from, to []byte
	}{
		{store.RecordSettings, []byte("u\x00\x00\x00\x01\x00\x00\x00\x01"), []byte("u\x00\x00\x00\x02\x00\x00\x00\x01")},
		{store.RecordService, binary.BigEndian.AppendUint32(nil, service.ID), binary.BigEndian.AppendUint32(nil, 9)},
	} {
		value, err := st.Record(r.kind, r.from)
		if err != nil {
			t.Fatal(err)
		}
		c.Put(r.kind, r.to, value)
	}
	if err := st.CommitRecords(&c); err != nil {
		t.Fatal(err)
	}
	if s, err := b.Settings.Latest(ann); err != nil || s.Subject != ann {
		t.Errorf("settings of their owner: got %+v, %v", s, err)
	}
	if s, err := b.Settings.Latest(bob); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("settings of another user: got %+v, %v; want ErrCorrupt", s, err)
	}
	if s, err := b.Services.Get(9); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("service 9: got %+v, %v; want ErrCorrupt", s, err)
	}
	if all, err := b.Services.All(); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("services: got %+v, %v; want ErrCorrupt", all, err)
	}
	var problems []string
	if err := saved.Verify(st, func(f store.FaultyRecord) { problems = append(problems, f.Problem) }); err != nil || len(problems) != 2 {
		t.Errorf("verify tells %q, %v; want both records", problems, err)
	}
}
