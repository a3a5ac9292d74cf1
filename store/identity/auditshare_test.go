package identity_test

import (
	"fmt"
	"testing"

	"github.com/trawlsearch/trawl/store/identity"
)

// countBy counts the entries of the log by their author; "" is none.
func (w *world) countBy(t testing.TB) (by map[string]int, all int) {
	t.Helper()
	entries, err := w.Audit(identity.AuditFilter{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	by = map[string]int{}
	for _, e := range entries {
		if e.Operator {
			by["operator"]++
		} else {
			by[e.User]++
		}
	}
	return by, len(entries)
}

// A user who writes a hundred times what the log holds pushes out their own
// entries, and no one else's; after a crash, too.
func TestAuditFloodPushesOutItsOwn(t *testing.T) {
	const most = 200
	o := identity.Options{AuditEntries: most}
	w := newWorld(t, o)
	root, ann, bob := w.admin(t, "root"), w.user(t, "ann"), w.user(t, "bob")
	write := func(n int, by identity.Author) {
		t.Helper()
		for i := range n {
			if err := w.Log(by, "x", fmt.Sprint(i), ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(60, identity.Operator)
	write(25, author(root))
	write(12, author(ann))
	before, _ := w.countBy(t)
	write(3*most, author(bob))
	write(3*most, identity.Author{Address: "198.51.100.7"})
	w.crash(t, o)
	write(3*most, author(bob))
	write(30, identity.Author{Address: "198.51.100.7"})
	after, all := w.countBy(t)
	for _, who := range []string{"operator", "root", "ann"} {
		if after[who] != before[who] {
			t.Errorf("%s has %d entries after the flood, %d before", who, after[who], before[who])
		}
	}
	if all > most {
		t.Errorf("the log has %d entries, want %d at most", all, most)
	}
	// Who comes later has room at once, and gets it from the largest.
	write(6, author(ann))
	write(8, author(root))
	if now, all := w.countBy(t); now["ann"] != before["ann"]+6 || now["root"] != before["root"]+8 || now["operator"] != before["operator"] || all > most {
		t.Errorf("after the flood: got %v, %d in all", now, all)
	}
}

// Many users together have half of the log at most beside those of site admins.
func TestAuditFloodOfMany(t *testing.T) {
	const most = 200
	w := newWorld(t, identity.Options{AuditEntries: most})
	ann := w.user(t, "ann")
	for range 99 {
		if err := w.Log(identity.Operator, "x", "", ""); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := w.Log(author(ann), "x", "", ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		for range 15 {
			by := identity.Author{UserID: uint32(100 + i), User: fmt.Sprint("eve", i)}
			if err := w.Log(by, "x", "", ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, all := w.countBy(t)
	if all != most || got["operator"] < most/2 || got["ann"] != 2 {
		t.Errorf("got %v, %d in all: want half of %d for the operator, and 2 for ann", got, all, most)
	}
}

// A log is bounded by a setting that was lowered, and the oldest go first.
func TestAuditEntriesLowered(t *testing.T) {
	w := newWorld(t, identity.Options{AuditEntries: 100})
	ann := w.user(t, "ann")
	for i := range 100 {
		if err := w.Log(author(ann), "x", fmt.Sprint(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	w.crash(t, identity.Options{AuditEntries: 10})
	if err := w.Log(identity.Operator, "x", "new", ""); err != nil {
		t.Fatal(err)
	}
	entries, err := w.Audit(identity.AuditFilter{Limit: 1000})
	if err != nil || len(entries) != 10 || entries[0].Target != "new" || entries[1].Target != "99" {
		t.Errorf("got %d entries, %v:\n%s", len(entries), err, lines(entries))
	}
}

// BenchmarkAuditFull writes to a log that is full.
func BenchmarkAuditFull(b *testing.B) {
	for _, users := range []int{1, 1000} {
		b.Run(fmt.Sprintf("users=%d", users), func(b *testing.B) {
			w := newWorld(b, identity.Options{AuditEntries: 100_000})
			for i := range 1000 {
				err := w.Update(identity.Author{UserID: uint32(1 + i%users)}, func(tx *identity.Tx) error {
					for range 100 {
						tx.Audit("x", "y", 0, "")
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if err := w.Log(identity.Author{UserID: 1}, "x", "y", ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
