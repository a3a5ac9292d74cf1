package oauth_test

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// FuzzRecords: whatever stands in a record of OAuth apps and grants, nothing
// panics, and no token, code or device is good by it.
func FuzzRecords(f *testing.F) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	grant := oauth.GrantID{0, 0, 0, 1, 9}
	key := oauth.Key{Grant: grant, Hash: oauth.Hash{1}, Family: oauth.Hash{2}}
	for _, r := range []struct {
		kind  store.RecordKind
		id    []byte
		value string
	}{
		{store.RecordApp, []byte("tool"), `{"id":"tool","kind":"public","scopes":["user:all"]}`},
		{store.RecordApp, []byte("tool"), "null"},
		{store.RecordApp, nil, "{}"},
		{store.RecordGrant, grant[:], `{"app":"tool","scopes":["user:all"],"created":"2031-05-06T07:08:09Z"}`},
		{store.RecordGrant, grant[:], `{"app":"sgo_cid_sourcegraph-cli","access":[{"hash":"","expires":"2041-01-01T00:00:00Z"}],"refresh":{"family":"","hash":"","expires":"2041-01-01T00:00:00Z"}}`},
		{store.RecordGrant, grant[:], "null"},
		{store.RecordGrant, []byte{0, 0, 0, 1}, "{}"},
		{store.RecordGrant, nil, "{}"},
		{store.RecordDevice, key.Hash[:], `{"app":"tool","decision":"granted","user":1,"expires":"2041-01-01T00:00:00Z","userCode":""}`},
		{store.RecordDevice, key.Hash[:], "null"},
		{store.RecordDevice, []byte{1}, "{}"},
		{store.RecordUserCode, key.Hash[:], "x"},
		{store.RecordUserCode, nil, ""},
	} {
		f.Add(byte(r.kind), r.id, []byte(r.value))
	}
	f.Fuzz(func(t *testing.T, kind byte, id, value []byte) {
		st, err := store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 1 << 20, ListBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		reg, err := identity.Open(st, identity.Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reg.CreateUser(identity.Operator, identity.NewUser{Name: "ann"}); err != nil {
			t.Fatal(err)
		}
		switch store.RecordKind(kind) {
		case store.RecordApp, store.RecordGrant, store.RecordDevice, store.RecordUserCode:
		default:
			return // none of the book's
		}
		var c store.Records
		c.Put(store.RecordKind(kind), append([]byte(nil), id...), append([]byte(nil), value...))
		if err := st.CommitRecords(&c); err != nil {
			t.Fatal(err)
		}
		b := oauth.Open(st, reg, oauth.Options{Now: func() time.Time { return now }})
		if _, a, err := b.Grants.ByAccess(key); err == nil {
			t.Errorf("record %c %x %q: access token %+v is good", kind, id, value, a)
		}
		if g, err := b.Grants.ByCode(key); err == nil {
			t.Errorf("record %c %x %q: a code is good for %+v", kind, id, value, g)
		}
		if g, err := b.Grants.ByRefresh(key); err == nil {
			t.Errorf("record %c %x %q: a refresh token is good for %+v", kind, id, value, g)
		}
		if d, err := b.Devices.Waiting("BCDF-GHJK"); err == nil {
			t.Errorf("record %c %x %q: device %+v waits", kind, id, value, d)
		}
		_, _ = b.Apps.Get("tool")
		_, _ = b.Apps.All()
		_, _ = b.Grants.Authorised(1)
		_, _ = b.Devices.Get(key.Hash)
		_, _, _ = b.Devices.Add("tool", nil, "")
		_ = b.Grants.Agree(identity.Operator, oauth.Key{Grant: oauth.GrantID{0, 0, 0, 1}}, oauth.Ask{App: oauth.CommandLine})
		_ = b.Grants.Revoke(identity.Operator, grant, "test")
		_ = b.Grants.RevokeApp(identity.Operator, 1, "tool")
		_ = b.Sweep()
		_ = b.Apps.Delete(identity.Operator, "tool")
		if err := oauth.Verify(st, func(store.FaultyRecord) {}); err != nil {
			t.Errorf("record %c %x %q: Verify: %v", kind, id, value, err)
		}
	})
}
