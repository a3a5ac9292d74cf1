package oauth_test

import (
	"errors"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// TestRecordOfAnother: an app under the client id of another is damage, and a
// device without a user code is. Neither lets anyone in, and both are left out of
// lists.
func TestRecordOfAnother(t *testing.T) {
	w := newWorld(t)
	_, app, err := w.Apps.Create(identity.Operator, oauth.NewApp{ID: "tool", Name: "Tool", Kind: oauth.Public})
	w.must(err)
	value, err := w.st.Record(store.RecordApp, []byte(app.ID))
	w.must(err)
	var c store.Records
	c.Put(store.RecordApp, []byte("other"), value)
	code := oauth.Hash{7}
	c.Put(store.RecordDevice, code[:], []byte(`{"app":"tool","decision":"granted","user":1,"expires":"2041-01-01T00:00:00Z","userCode":"BwY="}`))
	w.must(w.st.CommitRecords(&c))

	if a, err := w.Apps.Get("other"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("app under another id: got %+v, %v; want ErrCorrupt", a, err)
	}
	if all, err := w.Apps.All(); err != nil || len(all) != 2 {
		t.Errorf("apps: got %d, %v; want the sound one and src", len(all), err)
	}
	if d, err := w.Devices.Get(code); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("device without a user code: got %+v, %v; want ErrCorrupt", d, err)
	}
	w.must(w.Sweep())
	w.must(w.Apps.Delete(identity.Operator, "tool"))
	var problems []string
	if err := oauth.Verify(w.st, func(f store.FaultyRecord) { problems = append(problems, f.Problem) }); err != nil || len(problems) != 2 {
		t.Errorf("verify tells %q, %v; want both records", problems, err)
	}
}
