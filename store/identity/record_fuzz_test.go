package identity_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// FuzzRecords: no content of a record of accounts causes a panic or lets a user
// in. A record that cannot be read is an error.
func FuzzRecords(f *testing.F) {
	for _, kind := range []store.RecordKind{
		store.RecordUser, store.RecordName, store.RecordEmail, store.RecordPassword, store.RecordReset, store.RecordLockout, store.RecordSeen, store.RecordOrg,
		store.RecordMember, store.RecordMembership, store.RecordToken, store.RecordTokenHash, store.RecordTokenUse, store.RecordSession, store.RecordAudit, store.RecordCounter,
		store.RecordFailures, store.RecordSecret,
	} {
		for _, id := range [][]byte{{}, {0, 0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 2}, []byte("ann"), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff")} {
			for _, value := range [][]byte{{}, {0}, []byte("{}"), []byte("null"), []byte(`{"id":1,"name":"ann"}`), []byte(`{"id":4294967295,"user":1,"siteAdmin":true}`), {0, 0, 0, 1}} {
				f.Add(byte(kind), id, value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, id, value []byte) {
		st, err := store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 1 << 20, ListBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var c store.Records
		c.Put(store.RecordKind(kind), append([]byte(nil), id...), append([]byte(nil), value...))
		if err := st.CommitRecords(&c); err != nil {
			return // no kind of the store's
		}
		r, err := identity.Open(st, identity.Options{Cost: cheap, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
		if err != nil {
			return
		}
		_, _ = r.User(1)
		_, _ = r.UserNamed("ann")
		_, _ = r.UserWithEmail("ann")
		_, _ = r.Org(1)
		_, _ = r.OrgNamed("ann")
		_, _ = r.Token(1)
		_, _ = r.Users()
		_, _ = r.Orgs()
		_, _ = r.Members(1)
		_, _ = r.OrgsOf(1)
		_, _ = r.Tokens(1)
		_, _ = r.LastActive(1)
		_, _ = r.TokenLastUsed(1)
		_, _ = r.HasPassword(1)
		_, _ = r.Audit(identity.AuditFilter{})
		_ = r.Addresses("ann")
		_ = r.Sweep()
		if s, u, err := r.CheckSession("sgs_0123456789"); err == nil {
			t.Errorf("record %c %x %q: session %v of %v", kind, id, value, s, u)
		}
		if k, u, err := r.CheckToken("sgp_local_0123456789012345678901234567890123456789"); err == nil {
			t.Errorf("record %c %x %q: token %v of %v", kind, id, value, k, u)
		}
		if secret, u, err := r.SignIn(context.Background(), identity.Author{}, "ann", ""); err == nil {
			t.Errorf("record %c %x %q: %v gets in with %q", kind, id, value, u, secret)
		}
	})
}
