package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
)

// atOnce opens a database on many nodes at the same time.
func atOnce(t *testing.T, open func(context.Context) (*postgres.Cluster, error)) (all []*postgres.Cluster) {
	t.Helper()
	const nodes = 8
	all = make([]*postgres.Cluster, nodes)
	var opening sync.WaitGroup
	for i := range all {
		opening.Go(func() {
			var err error
			if all[i], err = open(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, c := range all {
		t.Cleanup(c.Close)
		if c.ID() != all[0].ID() || c.ID() == (cluster.ID{}) {
			t.Errorf("two nodes are in clusters %x and %x", c.ID(), all[0].ID())
		}
	}
	return all
}

func TestNodesMakeTheTablesOnce(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	admin := open(t, s.Address())
	for i := range 10 {
		database := fmt.Sprint("d", i)
		if err := admin.Exec(t.Context(), "CREATE DATABASE "+database); err != nil {
			t.Fatal(err)
		}
		o := postgres.Options{Address: strings.Replace(s.Address(), "/postgres?", "/"+database+"?", 1), Reads: formats}
		t.Run(database, func(t *testing.T) {
			all := atOnce(t, func(ctx context.Context) (*postgres.Cluster, error) { return postgres.Open(ctx, o) })
			must(t, all[0], 0, set("a", "1"))
			must(t, all[1], 1, set("a", "2"))
			for _, c := range all {
				records(t, c).equal(t, &replica{version: 2, records: map[string]string{"a": "2"}})
			}
		})
	}
}

func TestNewerProgramMigratesBesideOlderOnes(t *testing.T) {
	o := postgres.Options{Address: template.Start(t).Address(), Reads: formats}
	older := open(t, o.Address)
	must(t, older, 0, set("a", "1"))
	all := atOnce(t, func(ctx context.Context) (*postgres.Cluster, error) {
		return postgres.OpenNewer(ctx, o, []string{`ALTER TABLE trawl.node ADD COLUMN zone text`}, []string{`CREATE TABLE trawl.more (id bigint PRIMARY KEY)`})
	})
	if all[0].ID() != older.ID() {
		t.Error("the cluster has another ID after its tables were migrated")
	}
	must(t, older, 1, set("b", "1"))
	must(t, all[0], 2, set("b", "2"))
	if err := older.Nodes.Join(t.Context(), cluster.Node{ID: "older", Reads: formats}); err != nil {
		t.Error(err)
	}
	records(t, older).equal(t, records(t, all[1]))
	_, err := postgres.Open(t.Context(), o)
	var schema *postgres.SchemaError
	if !errors.As(err, &schema) || schema.Database != postgres.SchemaVersion+2 || schema.Program != postgres.SchemaVersion {
		t.Errorf("an older program opens newer tables: %v", err)
	}
}

func TestForeignTablesAreRefused(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	admin := open(t, s.Address())
	exec := func(c *postgres.Cluster, statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if err := c.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	address := func(database string) string {
		exec(admin, "CREATE DATABASE "+database)
		return strings.Replace(s.Address(), "/postgres?", "/"+database+"?", 1)
	}
	anew := []string{`DROP SCHEMA trawl CASCADE`, `CREATE SCHEMA trawl`}
	for name, statements := range map[string][]string{
		"other_tables":    append(anew, `CREATE TABLE trawl.fish (n int)`),
		"another_head":    append(anew, `CREATE TABLE trawl.head (n int)`),
		"head_of_no_rows": {`DELETE FROM trawl.head`},
	} {
		o := postgres.Options{Address: address(name), Reads: formats}
		exec(open(t, o.Address), statements...)
		if _, err := postgres.Open(t.Context(), o); !errors.Is(err, postgres.ErrForeign) {
			t.Errorf("%s: %v, want ErrForeign", name, err)
		}
	}
}

// A user without rights needs an empty schema, which an administrator makes.
func TestUserWithoutRights(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	admin := open(t, s.Address())
	for _, statement := range []string{`DROP SCHEMA trawl CASCADE`, `CREATE ROLE trawl LOGIN`} {
		if err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	o := postgres.Options{Address: strings.Replace(s.Address(), "postgres@", "trawl@", 1), Reads: formats}
	if _, err := postgres.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "CREATE SCHEMA trawl AUTHORIZATION") {
		t.Errorf("no rights: %v, want what to do", err)
	}
	if err := admin.Exec(t.Context(), `CREATE SCHEMA trawl AUTHORIZATION trawl`); err != nil {
		t.Fatal(err)
	}
	must(t, open(t, o.Address), 0, set("a", "1"))
}

func TestFormats(t *testing.T) {
	t.Parallel()
	address := template.Start(t).Address()
	reads := func(lowest, newest uint32) func(*postgres.Options) {
		return func(o *postgres.Options) { o.Reads = cluster.Formats{Lowest: lowest, Newest: newest} }
	}
	older, newer := open(t, address, reads(1, 2)), open(t, address, reads(2, 3))
	ctx := t.Context()
	join := func(c *postgres.Cluster, id string, lowest, newest uint32) error {
		return c.Nodes.Join(ctx, cluster.Node{ID: id, Reads: cluster.Formats{Lowest: lowest, Newest: newest}})
	}
	raise := func(when string, to, want uint32) {
		t.Helper()
		got, err := newer.Nodes.Raise(ctx, to)
		format, ferr := newer.Nodes.Format(ctx)
		if err != nil || ferr != nil || got != want || format != want {
			t.Errorf("%s: raised to %d: %d, %v; read %d, %v, want %d", when, to, got, err, format, ferr, want)
		}
	}
	for _, err := range []error{join(older, "older", 1, 2), join(newer, "newer", 2, 3)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(t, older, 0, set("a", "1"))
	raise("a node cannot read it", 3, 2)
	raise("never lowered", 1, 2)
	if err := older.Exec(ctx, `UPDATE trawl.node SET seen = now() - interval '61 seconds' WHERE id = 'older'`); err != nil {
		t.Fatal(err)
	}
	raise("that node is dead", 3, 3)

	// The dead node comes back: it reads and writes nothing.
	_, head := older.Log.Head(ctx)
	_, tail := older.Log.Tail(ctx, 0, 1)
	_, all := older.Log.Records(ctx, func([]byte, []byte) error { t.Error("a record was read"); return nil })
	_, again := postgres.Open(ctx, postgres.Options{Address: address, Reads: cluster.Formats{Lowest: 1, Newest: 2}})
	for call, err := range map[string]error{
		"Head": head, "Tail": tail, "Records": all, "Open": again, "Join": join(older, "older", 1, 2),
		"Append": older.Log.Append(ctx, 1, newID(), []cluster.Write{set("a", "2")}),
	} {
		var format *cluster.FormatError
		if !errors.As(err, &format) || format.Records != 3 || format.Reads.Newest != 2 {
			t.Errorf("%s of an older program: %v, want a FormatError", call, err)
		}
	}
	must(t, newer, 1, set("a", "2"))
	records(t, newer).equal(t, &replica{version: 2, records: map[string]string{"a": "2"}})
}

// A node that joins and one that raises the format never miss each other.
func TestJoinBesideRaise(t *testing.T) {
	address := template.Start(t).Address()
	a, b := open(t, address), open(t, address, func(o *postgres.Options) { o.Reads.Newest = 1000 })
	ctx := t.Context()
	for format := uint32(3); format < 60; format++ {
		var joined, raised error
		var now uint32
		var both sync.WaitGroup
		both.Go(func() {
			joined = a.Nodes.Join(ctx, cluster.Node{ID: "older", Reads: cluster.Formats{Lowest: 1, Newest: format - 1}})
		})
		both.Go(func() { now, raised = b.Nodes.Raise(ctx, format) })
		both.Wait()
		var refused *cluster.FormatError
		switch {
		case raised != nil || joined != nil && !errors.As(joined, &refused):
			t.Fatal(raised, joined)
		case (joined == nil) != (now == format-1):
			t.Fatalf("format %d is in use, and a node that reads up to %d joined: %v", now, format-1, joined)
		}
		if err := b.Nodes.Leave(ctx, "older"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Nodes.Raise(ctx, format); err != nil {
			t.Fatal(err)
		}
	}
}
