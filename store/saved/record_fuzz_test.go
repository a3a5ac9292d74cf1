package saved_test

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// FuzzRecords: whatever stands in a record of what people save, nothing panics.
func FuzzRecords(f *testing.F) {
	for _, kind := range []store.RecordKind{store.RecordSite, store.RecordSettings, store.RecordService, store.RecordSavedSearch, store.RecordJob, store.RecordJobStep, store.RecordJobResult, store.RecordContext, store.RecordContextChoice,
		store.RecordMonitor, store.RecordKnown, store.RecordLooked, store.RecordFiring, store.RecordWaiting} {
		for _, id := range [][]byte{{}, {0, 0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 2}, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff")} {
			for _, value := range [][]byte{{}, {0}, []byte("{}"), []byte("null"), []byte(`{"id":1,"query":"x","state":"done"}`), []byte(`{"id":-1}`)} {
				f.Add(byte(kind), id, value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, id, value []byte) {
		st := open(t, vfs.NewMem())
		defer st.Close()
		var c store.Records
		c.Put(store.RecordKind(kind), append([]byte(nil), id...), append([]byte(nil), value...))
		if err := st.CommitRecords(&c); err != nil {
			return // no kind of the store's
		}
		b := saved.Open(st, saved.Options{})
		_, _ = b.SiteID()
		_, _ = b.Searches.All()
		_, _ = b.Searches.Get(1)
		_, _ = b.Services.All()
		_, _ = b.Services.Get(1)
		_, _ = b.Jobs.All()
		_, _ = b.Jobs.Get(1)
		_, _ = b.Jobs.Steps(1)
		_, _ = b.Jobs.Part(1, 0)
		_, _ = b.Settings.Latest(saved.Subject{})
		_, _ = b.Contexts.Get(saved.Subject{}, "x")
		_ = b.Contexts.Each(func(*saved.Context) {})
		_, _ = b.Contexts.Add(saved.Context{Name: "x"})
		_, _ = b.Contexts.Choice(1)
		_ = b.Contexts.Choose(1, func(*saved.ContextChoice) {})
		_, _ = b.Jobs.Add("x", 1)
		_, _ = b.Searches.Add(saved.Search{})
		_, _ = b.Monitors.All()
		_, _ = b.Monitors.Set(1, 1, []saved.Target{{Kind: "webhook"}})
		if m, err := b.Monitors.Get(1); err == nil {
			_ = b.Monitors.Change(m, func(m *saved.Monitor) { m.Begun = true })
			_, _ = b.Monitors.Know(m, saved.Looked{Repository: 2}, []saved.Found{{Hash: 1}}, true)
		}
		_, _ = b.Monitors.Looked(1)
		_, _ = b.Firings.All(1)
		_ = b.Firings.Waiting(func(uint32, uint32, time.Time) {})
		_, _ = b.Monitors.Restart(1, "x")
		_ = b.Monitors.Forget(1, 2)
		_ = b.Searches.Remove(1)
	})
}
