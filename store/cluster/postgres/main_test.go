package postgres_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/internal/postgrestest"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
)

// patience is how long a test waits for what has to come.
const patience = 60 * time.Second

var template postgrestest.Template

func TestMain(m *testing.M) {
	code := m.Run()
	template.Remove()
	if err := goleak.Find(); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

var formats = cluster.Formats{Lowest: 1, Newest: 2}

// open opens a database until the test ends.
func open(t testing.TB, address string, change ...func(*postgres.Options)) *postgres.Cluster {
	t.Helper()
	o := postgres.Options{Address: address, Reads: formats, Patience: patience}
	for _, f := range change {
		f(&o)
	}
	c, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func newID() (id cluster.ID) {
	_, _ = rand.Read(id[:])
	return id
}

func set(key, value string) cluster.Write {
	return cluster.Write{Key: []byte(key), Value: append([]byte{}, value...)}
}

func remove(key string) cluster.Write { return cluster.Write{Key: []byte(key)} }

// must appends a version that nobody else makes.
func must(t testing.TB, c *postgres.Cluster, base cluster.Version, writes ...cluster.Write) cluster.ID {
	t.Helper()
	id := newID()
	if err := c.Log.Append(t.Context(), base, id, writes); err != nil {
		t.Fatal(err)
	}
	return id
}

// replica is what a node keeps: the records at a version.
type replica struct {
	version cluster.Version
	records map[string]string
}

func newReplica() *replica { return &replica{records: map[string]string{}} }

func (r *replica) apply(t testing.TB, entries []cluster.Entry) {
	t.Helper()
	for _, e := range entries {
		if e.Version != r.version+1 {
			t.Fatalf("version %d follows version %d", e.Version, r.version)
		}
		r.version = e.Version
		for _, w := range e.Writes {
			if w.Value == nil {
				delete(r.records, string(w.Key))
			} else {
				r.records[string(w.Key)] = string(w.Value)
			}
		}
	}
}

// follow applies what comes after the replica's version, up to a version or the end.
func (r *replica) follow(t testing.TB, c *postgres.Cluster, to cluster.Version) (entries []cluster.Entry) {
	t.Helper()
	for to == 0 || r.version < to {
		next, err := c.Log.Tail(t.Context(), r.version, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(next) == 0 {
			break
		}
		if to > 0 {
			next = next[:min(len(next), int(to-r.version))]
		}
		r.apply(t, next)
		entries = append(entries, next...)
	}
	return entries
}

// records reads all records, which have to come in the order of their keys.
func records(t testing.TB, c *postgres.Cluster) *replica {
	t.Helper()
	r := newReplica()
	var last []byte
	version, err := c.Log.Records(t.Context(), func(key, value []byte) error {
		if bytes.Compare(last, key) >= 0 {
			t.Errorf("record %q follows %q", key, last)
		}
		last = key
		r.records[string(key)] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.version = version
	return r
}

// equal compares two replicas of the same version.
func (r *replica) equal(t testing.TB, want *replica) {
	t.Helper()
	if r.version != want.version || !maps.Equal(r.records, want.records) {
		t.Errorf("version %d with %d records, want version %d with %d: %.20q, want %.20q", r.version, len(r.records),
			want.version, len(want.records), slices.Sorted(maps.Keys(r.records)), slices.Sorted(maps.Keys(want.records)))
	}
}

// within is a context that ends before the test does.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
