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
		b := saved.Open(st, nil)
		_, _ = b.SiteID()
		_, _ = b.Searches()
		_, _ = b.Search(1)
		_, _ = b.Services()
		_, _ = b.Service(1)
		_, _ = b.Jobs()
		_, _ = b.Job(1)
		_, _ = b.JobSteps(1)
		_, _ = b.JobPart(1, 0)
		_, _ = b.Settings(saved.Subject{})
		_, _ = b.Context(saved.Subject{}, "x")
		_ = b.EachContext(func(*saved.Context) {})
		_, _ = b.AddContext(saved.Context{Name: "x"})
		_, _ = b.ContextChoice(1)
		_ = b.ChooseContext(1, func(*saved.ContextChoice) {})
		_, _ = b.AddJob("x", 1)
		_, _ = b.AddSearch(saved.Search{})
		_, _ = b.Monitors()
		_, _ = b.SetMonitor(1, 1, []saved.Target{{Kind: "webhook"}})
		if m, err := b.Monitor(1); err == nil {
			_ = b.ChangeMonitor(m, func(m *saved.Monitor) { m.Begun = true })
			_, _ = b.Know(m, saved.Looked{Repository: 2}, []saved.Found{{Hash: 1}}, true)
		}
		_, _ = b.Looked(1)
		_, _ = b.Firings(1)
		_ = b.Waiting(func(uint32, uint32, time.Time) {})
		_, _ = b.RestartMonitor(1, "x")
		_ = b.Forget(1, 2)
		_ = b.RemoveSearch(1)
	})
}
