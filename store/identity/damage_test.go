package identity_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// One damaged record of any kind is told of once, and keeps nothing else from
// being listed or, when it has ended, deleted.
func TestDamagedRecordsStopNothing(t *testing.T) {
	for _, kind := range []store.RecordKind{
		store.RecordUser, store.RecordOrg, store.RecordToken, store.RecordSession, store.RecordReset, store.RecordAudit,
	} {
		t.Run(string(kind), func(t *testing.T) {
			var told []error
			w := newWorld(t, identity.Options{Damaged: func(err error) { told = append(told, err) }})
			ann, bob := w.signed(t, "ann"), w.signed(t, "bob")
			for _, name := range []string{"one", "two"} {
				if _, err := w.CreateOrg(identity.Operator, name, ""); err != nil {
					t.Fatal(err)
				}
			}
			w.token(t, ann)
			w.token(t, bob)
			w.signIn(t, "ann")
			w.signIn(t, "bob")
			for _, u := range []*identity.User{ann, bob} {
				if _, err := w.ResetPassword(identity.Operator, u.ID); err != nil {
					t.Fatal(err)
				}
			}
			before := len(w.records(t, kind))
			w.damage(t, kind)

			users, err := w.Users()
			orgs, err2 := w.Orgs()
			tokens, err3 := w.Tokens(0)
			_, err4 := w.Audit(identity.AuditFilter{})
			if err := errors.Join(err, err2, err3, err4); err != nil {
				t.Errorf("lists: %v", err)
			}
			if len(users) < 1 || len(orgs) < 1 || len(tokens) < 1 {
				t.Errorf("%d users, %d organisations and %d tokens are listed, want 1 or more of each", len(users), len(orgs), len(tokens))
			}
			w.clock.Add(2 * 366 * 24 * time.Hour)
			for range 2 {
				if err := w.Sweep(); err != nil {
					t.Fatalf("sweep: %v", err)
				}
			}
			for _, swept := range []store.RecordKind{store.RecordToken, store.RecordSession, store.RecordReset} {
				// What is damaged stays, and a session of a user who is.
				most := 0
				if swept == kind || swept == store.RecordSession && kind == store.RecordUser {
					most = 1
				}
				if left := w.records(t, swept); len(left) > most {
					t.Errorf("%d records of kind %c are left, want %d, since all have ended", len(left), swept, most)
				}
			}
			if left := w.records(t, kind); before < 2 || len(left) == 0 {
				t.Errorf("%d records before and %d after, want the damaged one kept", before, len(left))
			}
			if len(told) == 0 || len(told) > 2 || !errors.Is(told[0], store.ErrCorrupt) {
				t.Errorf("told of %v, want the damaged record, and at most one that needs it", told)
			}
			var problems []string
			if err := identity.Verify(w.st, func(f store.FaultyRecord) { problems = append(problems, f.Problem) }); err != nil || len(problems) == 0 {
				t.Errorf("verify tells %q, %v, want the damaged record", problems, err)
			}
		})
	}
}

// damage spoils the last record of a kind.
func (w *world) damage(t *testing.T, kind store.RecordKind) {
	t.Helper()
	ids := w.records(t, kind)
	slices.Sort(ids)
	var c store.Records
	id, err := hex.DecodeString(ids[len(ids)-1])
	if err != nil {
		t.Fatal(err)
	}
	c.Put(kind, id, []byte(`{"id":`))
	if err := w.st.CommitRecords(&c); err != nil {
		t.Fatal(err)
	}
}

// TestRecordOfAnother: the record of a user, organisation or token under the key
// of another lends no rights: it is damage to who reads it, and left out of lists.
func TestRecordOfAnother(t *testing.T) {
	w := newWorld(t, identity.Options{})
	root := w.signed(t, "root")
	admin := true
	if _, err := w.ChangeUser(identity.Operator, root.ID, identity.UserChange{SiteAdmin: &admin}); err != nil {
		t.Fatal(err)
	}
	bob := w.signed(t, "bob")
	org, err := w.CreateOrg(identity.Operator, "one", "")
	if err != nil {
		t.Fatal(err)
	}
	text, token := w.token(t, bob)
	id := func(n ...uint32) (out []byte) {
		for _, n := range n {
			out = binary.BigEndian.AppendUint32(out, n)
		}
		return out
	}
	copyRecord := func(kind store.RecordKind, from, to []byte) {
		t.Helper()
		value, err := w.st.Record(kind, from)
		if err != nil {
			t.Fatal(err)
		}
		var c store.Records
		c.Put(kind, to, value)
		if err := w.st.CommitRecords(&c); err != nil {
			t.Fatal(err)
		}
	}
	other := uint32(1<<32 - 1)
	copyRecord(store.RecordOrg, id(org.ID), id(other))
	copyRecord(store.RecordToken, id(bob.ID, token.ID), id(root.ID, token.ID))
	var c store.Records
	c.Put(store.RecordTokenHash, token.Hash, id(root.ID, token.ID))
	if err := w.st.CommitRecords(&c); err != nil {
		t.Fatal(err)
	}
	if token, u, err := w.CheckToken(text); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("token under the key of another user's: got %+v of %+v, %v; want ErrCorrupt", token, u, err)
	}
	copyRecord(store.RecordUser, id(root.ID), id(bob.ID))
	if u, err := w.User(bob.ID); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("bob under the record of a site admin: got %+v, %v; want ErrCorrupt", u, err)
	}
	if o, err := w.Org(other); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("organisation under another number: got %+v, %v; want ErrCorrupt", o, err)
	}
	users, err := w.Users()
	orgs, err2 := w.Orgs()
	tokens, err3 := w.Tokens(root.ID)
	if err := errors.Join(err, err2, err3); err != nil || len(users) != 1 || len(orgs) != 1 || len(tokens) != 0 {
		t.Errorf("got %d users, %d organisations and %d tokens of root, %v; want 1, 1 and none", len(users), len(orgs), len(tokens), err)
	}
}
