package store_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// library is what a site holds: shards and what is in them.
type library struct {
	headers []shard.Header
	docs    [][]shard.Document
	texts   [][]string
}

// soundDocuments are documents that pass a verification.
func soundDocuments(seed uint64) ([]shard.Document, []string) {
	docs, texts := documents(seed, 30)
	for i, text := range texts {
		docs[i].OID = sha1Of(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	}
	return docs, texts
}

// fill writes shards, the first with symbols.
func (l *library) fill(t *testing.T, s *store.Store, shards int) {
	t.Helper()
	c := store.Change{}
	r := &store.Repository{ID: 1, Name: "r"}
	for i := range shards {
		docs, texts := soundDocuments(uint64(i + 1))
		h := writeShard(t, s, docs, texts)
		l.headers, l.docs, l.texts = append(l.headers, h), append(l.docs, docs), append(l.texts, texts)
		r.Shards = append(r.Shards, h.ID)
		c.Add = append(c.Add, h)
	}
	c.Repositories = []*store.Repository{r}
	if err := s.Commit(c); err != nil {
		t.Fatal(err)
	}
	writeSymbols(t, s, l.headers[0].ID, map[int][]shard.Symbol{3: {{Name: "fire", Kind: "function", Line: 3}}}, shard.SymbolCounts{Documents: 3})
}

// whole checks that a node has all of the library.
func (l *library) whole(t *testing.T, s *store.Store, who string) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	for i, h := range l.headers {
		v, found := sn.Shard(h.ID)
		if !found || v.Quarantine != nil {
			t.Fatalf("%s: shard %d is there: %t, quarantined: %+v", who, h.ID, found, v.Quarantine)
		}
		check(t, v, l.docs[i], l.texts[i])
		l.verify(t, v, func(where, problem string) { t.Errorf("%s: shard %d: %s: %s", who, h.ID, where, problem) })
	}
	v, _ := sn.Shard(l.headers[0].ID)
	if got := names(t, v, "fire"); !slices.Equal(got, []uint16{3}) {
		t.Errorf("%s: documents with the symbol: %v, want 3", who, got)
	}
}

func (l *library) verify(t *testing.T, v shard.View, fault func(where, problem string)) {
	t.Helper()
	err := v.Verify(t.Context(), shard.Verifying{Fault: fault, Read: func(int) {}, Pause: func(context.Context) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
}

// search reads the texts of all shards of a node, as a search does, quarantines those
// that are damaged and returns how many it did without.
func (l *library) search(t *testing.T, s *store.Store) (skipped int) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		err := l.read(v)
		if err == nil {
			continue
		}
		skipped++
		if v.Quarantine != nil {
			continue
		}
		if !shard.IsDamage(err) {
			t.Fatal(err)
		}
		if _, err := s.SetAside(v.ID, err, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return skipped
}

// read reads the texts of a shard.
func (l *library) read(v shard.View) error {
	docs, err := v.Documents()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(l.headers, func(h shard.Header) bool { return h.ID == v.ID })
	text := v.Text()
	defer text.Close()
	for d := range docs.Len() {
		got, err := text.Slice(docs.TextStart[d], docs.TextStart[d+1])
		if err != nil {
			return err
		}
		if i >= 0 && string(got) != l.texts[i][d] {
			return fmt.Errorf("document %d has another text", d)
		}
		text.Release()
	}
	return nil
}

// flip changes bytes of a file.
func flip(t *testing.T, fs vfs.FS, rng *rand.Rand, path string) {
	t.Helper()
	in, err := fs.OpenReadWrite(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, min(64, info.Size()))
	at := rng.Int64N(info.Size() - int64(len(b)) + 1)
	if _, err := in.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] ^= byte(1 + rng.IntN(255))
	}
	if _, err := in.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
}

// mended waits until a node has fetched what was damaged.
func mended(t *testing.T, s *store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Node().AwaitMended(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedShardIsFetchedAgain flips bytes in the tables of one of two nodes again and
// again. Its searches go on without the shard, which is whole again soon, and no other
// node notices: nothing is added to the log.
func TestDamagedShardIsFetchedAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w, l := newSite(), &library{}
	a, disk := w.node(t), vfs.NewMem()
	defer closeStore(t, a)
	l.fill(t, a, 4)
	b, err := w.open(disk)
	if err != nil {
		t.Fatal(err)
	}
	log, objects, found, fresh := w.log.All(), w.objects(t), 0, 0
	for round := range race.Scaled(12, 6) {
		h := l.headers[rng.IntN(len(l.headers))]
		tables := b.Tables(h.ID)
		closeStore(t, b) // so that no cache has what is on disk
		if len(tables) == 0 {
			// The engine has put what came back into a table with others: a new node follows.
			disk = vfs.NewMem()
			if b, err = w.open(disk); err != nil {
				t.Fatal(err)
			}
			if tables = b.Tables(h.ID); len(tables) == 0 {
				t.Fatalf("round %d: shard %d has no table", round, h.ID)
			}
			fresh++
			closeStore(t, b)
		}
		flip(t, disk, rng, tables[rng.IntN(len(tables))])
		if b, err = w.open(disk); err != nil {
			t.Fatal(err)
		}
		old := b.Snapshot()
		view, _ := old.Shard(h.ID)
		skipped := l.search(t, b)
		if found += skipped; skipped == 0 { // it is in what no search has read yet
			if _, err := b.SetAside(h.ID, errors.New("a test"), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		// A search that began before sees all of it, or damage.
		if err := l.read(view); err != nil && !shard.IsDamage(err) {
			t.Errorf("round %d: a search that began before: %v", round, err)
		}
		old.Close()
		mended(t, b)
		l.whole(t, b, fmt.Sprint("round ", round))
		if got := b.Health().Aside; len(got) != 0 {
			t.Errorf("round %d: %+v is set aside", round, got)
		}
	}
	t.Logf("damage was found %d times, on %d nodes", found, 1+fresh)
	if found < race.Scaled(3, 2) {
		t.Error("hardly any damage was found")
	}
	l.whole(t, a, "the other node")
	if got := w.log.All(); got != log {
		t.Errorf("the log has\n%s\nbefore it had\n%s", got, log)
	}
	if got := w.objects(t); !slices.Equal(got, objects) {
		t.Errorf("there are the objects %v, before there were %v", got, objects)
	}
	closeStore(t, b)
	if b, err = w.open(disk); err != nil {
		t.Fatal(err)
	}
	l.whole(t, b, "opened again")
	closeStore(t, b)
}

// TestSubscriberCommitsWhenShardIsWhole: who hears that a quarantine was set or lifted may
// commit at once.
func TestSubscriberCommitsWhenShardIsWhole(t *testing.T) {
	w, l := newSite(), &library{}
	a, b := w.node(t), w.node(t)
	defer closeStore(t, a)
	l.fill(t, a, 1)
	follow(t, b, w.log)
	var told atomic.Int32
	b.Subscribe(func(v store.Applied) {
		if v.Shards || v.Everything || len(v.Records)+len(v.Repositories) > 0 {
			return
		}
		var c store.Records
		c.Put(store.RecordSite, []byte{byte(told.Add(1))}, nil)
		if err := b.CommitRecords(&c); err != nil {
			t.Error(err)
		}
	})
	if _, err := b.SetAside(l.headers[0].ID, errors.New("a test"), time.Now()); err != nil {
		t.Fatal(err)
	}
	mended(t, b)
	closeStore(t, b)
	if got := told.Load(); got != 3 { // with the one before the shard is replaced
		t.Errorf("subscribers heard of %d quarantines, want 3", got)
	}
}

// TestObjectIsDamagedToo damages a shard of a node and its object. Another node stores
// the run again. Where none can, the shard stays quarantined and is waited for no more.
func TestObjectIsDamagedToo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	w, l := newSite(), &library{}
	a, b := w.node(t), w.node(t)
	defer closeStore(t, b)
	l.fill(t, a, 3)
	follow(t, b, w.log)
	damage := func(i int) {
		t.Helper()
		h := headerOf(t, b, l.headers[i].ID)
		for _, f := range h.Files() {
			data := make([]byte, rng.IntN(100))
			err := w.folder.Put(t.Context(), runs.Name(f), data)
			if len(data)%2 == 0 {
				err = w.folder.Delete(t.Context(), runs.Name(f))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if first, err := b.SetAside(l.headers[i].ID, errors.New("a test"), time.Now()); !first || err != nil {
			t.Fatal(first, err)
		}
	}
	for range 20 {
		damage(rng.IntN(3))
		// The shard may be given up before the other node has looked.
		wait(t, func() bool { return len(b.Health().Aside) == 0 })
	}
	l.whole(t, b, "the node")
	wait(t, func() bool {
		asked, err := runs.New(w.folder).Asked(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(asked) == 0
	})
	closeStore(t, a)
	damage(1)
	mended(t, b)
	if h, _ := b.Node().Sharing(); h.Hopeless != 1 || h.Fetching != 0 || h.Mended < 20 {
		t.Errorf("with no node to ask: %+v", h)
	}
	if aside := b.Health().Aside; len(aside) != 1 {
		t.Errorf("with no node to ask: quarantined are %+v", aside)
	}
	if l.search(t, b) != 1 {
		t.Error("with no node to ask: the shard is searched")
	}
}

// headerOf returns the header of a shard.
func headerOf(t *testing.T, s *store.Store, id uint32) shard.Header {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	v, _ := sn.Shard(id)
	return v.Header
}

// wait waits until a condition holds.
func wait(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(end) {
			t.Fatal("it did not happen within a minute")
		}
		runtime.Gosched()
	}
}

// TestObjectsAreAway damages a shard and adds another while no object can be read.
// Searches go on with the last version, and all of it is made up for then.
func TestObjectsAreAway(t *testing.T) {
	w, l := newSite(), &library{}
	a, b := w.node(t), w.node(t)
	defer closeStore(t, a)
	defer closeStore(t, b)
	l.fill(t, a, 2)
	follow(t, b, w.log)
	for range 10 {
		docs, texts := soundDocuments(7)
		h := writeShard(t, a, docs, texts)
		w.folder.away.Store(true)
		if _, err := b.SetAside(l.headers[0].ID, errors.New("a test"), time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := a.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
			t.Fatal(err)
		}
		before, _ := b.Node().Sharing()
		if err := b.Follow(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("caught up with a run that cannot be fetched: %v", err)
		}
		if err := b.Node().CatchUp(t.Context()); err != nil {
			t.Errorf("not current without documents: %v", err)
		}
		now, _ := b.Node().Sharing()
		if now.Version != before.Version || now.Fetching != 1 || now.Hopeless != 0 || !now.Confirmed.After(before.Confirmed) {
			t.Errorf("without objects: %+v, before %+v", now, before)
		}
		wait(t, func() bool { s, _ := b.Node().Sharing(); return s.Waiting != "" })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Node().AwaitMended(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a change does not wait for the shard: %v", err)
		}
		if l.search(t, b) != 1 {
			t.Error("without objects: the other shard cannot be searched")
		}
		w.folder.away.Store(false)
		mended(t, b)
		follow(t, b, w.log)
		l.whole(t, b, "with objects again")
		if s, _ := b.Node().Sharing(); s.Waiting != "" || s.Fetching != 0 {
			t.Errorf("with objects again: %+v", s)
		}
	}
}

// hasty sweeps what no record names at once.
type hasty struct{ *runs.Runs }

func (r hasty) Sweep(ctx context.Context, named func(context.Context) ([]shard.File, error)) (int, int64, error) {
	out, err := r.SweepAfter(ctx, runs.SweepOptions{UnnamedAfter: 1, DroppedAfter: 1}, named)
	return out.Objects, out.Bytes, err
}

// slow has downloads wait for a turn that the test gives.
type slow struct {
	*gate
	rng *rand.Rand
	mu  sync.Mutex
}

func (s *slow) Download(ctx context.Context, name string, to io.Writer, content object.Content) error {
	s.mu.Lock()
	n := s.rng.IntN(200)
	s.mu.Unlock()
	for range n {
		runtime.Gosched()
	}
	return s.gate.Download(ctx, name, to, content)
}

// TestSweepBesideNodesThatFill has a node add and drop shards while runs are swept the
// moment that no record names them, and other nodes come, follow and are closed. In the
// end all have all shards, and the objects are those that records name.
func TestSweepBesideNodesThatFill(t *testing.T) {
	w := newSite()
	folder := &slow{gate: w.folder, rng: rand.New(rand.NewPCG(5, 6))}
	open := func(fs vfs.FS) *store.Store {
		s, err := store.Open("data", store.Options{FS: fs, Log: w.log, Runs: hasty{runs.New(folder)}}.WithShortPauses())
		if err != nil {
			t.Error(err)
			return nil
		}
		return s
	}
	writer := open(vfs.NewMem())
	defer closeStore(t, writer)
	docs, texts := documents(1, 10)
	if err := writer.Commit(store.Change{Repositories: []*store.Repository{{ID: 1, Name: "r"}}}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	swept := 0
	var others sync.WaitGroup
	var writing sync.Mutex // what is written and not yet committed is not swept: here it is old at once
	others.Go(func() {
		for {
			writing.Lock()
			n, _, err := writer.Node().SweepObjects(t.Context())
			writing.Unlock()
			if swept += n; err != nil {
				t.Error(err)
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	})
	for n := range 3 {
		others.Go(func() {
			fs := vfs.NewMem()
			for round := 0; ; round++ {
				if (round+n)%3 == 0 {
					fs = vfs.NewMem()
				}
				if s := open(fs); s != nil {
					if err := s.Follow(t.Context()); err != nil {
						t.Error(err)
					}
					closeStore(t, s)
				}
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(7, 8))
	r := store.Repository{ID: 1, Name: "r"}
	for round := range 150 {
		writing.Lock()
		var c store.Change
		next := r
		next.Shards = slices.Clone(r.Shards)
		for range 1 + rng.IntN(2) {
			h := writeShard(t, writer, docs, texts)
			next.Shards = append(next.Shards, h.ID)
			c.Add = append(c.Add, h)
		}
		for len(next.Shards) > 3 {
			i := rng.IntN(len(r.Shards))
			if j := slices.Index(next.Shards, r.Shards[i]); j >= 0 {
				c.Drop = append(c.Drop, r.Shards[i])
				next.Shards = slices.Delete(next.Shards, j, j+1)
			}
		}
		c.Repositories = []*store.Repository{&next}
		err := writer.Commit(c)
		writing.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if r = next; round%10 == 0 {
			w.log.CutAll()
		}
	}
	close(ended)
	others.Wait()
	t.Logf("%d objects were swept", swept)
	if swept == 0 {
		t.Error("nothing was swept")
	}
	for range 2 { // what was dropped last was seen for the first time, perhaps
		if _, _, err := writer.Node().SweepObjects(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	last := open(vfs.NewMem())
	defer closeStore(t, last)
	sn := last.Snapshot()
	defer sn.Close()
	var want []string
	for _, id := range r.Shards {
		v, found := sn.Shard(id)
		if !found {
			t.Fatalf("shard %d is not there", id)
		}
		check(t, v, docs, texts)
		want = append(want, runs.Name(v.Header.Files()[0]))
	}
	slices.Sort(want)
	got := slices.DeleteFunc(w.objects(t), func(name string) bool { return name == "shards/unnamed" })
	if !slices.Equal(got, want) {
		t.Errorf("there are the objects %v, want %v", got, want)
	}
}

// silent is a logger of the engine.
type silent struct{}

func (silent) Infof(string, ...any)              {}
func (silent) Errorf(string, ...any)             {}
func (silent) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// TestDamagedRecordsAreFilledAgain damages the small records of a node that is closed:
// when it is opened it has the log's again, and fetches a shard whose header it has lost.
func TestDamagedRecordsAreFilledAgain(t *testing.T) {
	w, l := newSite(), &library{}
	a, disk := w.node(t), vfs.NewMem()
	defer closeStore(t, a)
	l.fill(t, a, 3)
	b, err := w.open(disk)
	if err != nil {
		t.Fatal(err)
	}
	key := func(prefix byte, id uint32) []byte { return binary.BigEndian.AppendUint32([]byte{prefix}, id) }
	id := l.headers[0].ID
	for name, change := range map[string]func(db *pebble.DB) error{
		"a header is missing":       func(db *pebble.DB) error { return db.Delete(key('h', id), pebble.Sync) },
		"a header is damaged":       func(db *pebble.DB) error { return db.Set(key('h', id), []byte("{"), pebble.Sync) },
		"a header is another's":     func(db *pebble.DB) error { return db.Set(key('h', id), []byte(`{"id": 7}`), pebble.Sync) },
		"dead documents are damage": func(db *pebble.DB) error { return db.Set(key('k', id), []byte{77}, pebble.Sync) },
		"a repository is damaged":   func(db *pebble.DB) error { return db.Set(key('r', 1), []byte("{"), pebble.Sync) },
		"a key is damaged":          func(db *pebble.DB) error { return db.Set([]byte("r77"), []byte("{}"), pebble.Sync) },
		"a run is missing": func(db *pebble.DB) error {
			from, to := shard.Keys(id)
			return db.DeleteRange(from, to, pebble.Sync)
		},
	} {
		closeStore(t, b)
		if err := disk.Remove("data/index/SEAL"); err != nil {
			t.Fatal(err)
		}
		db, err := pebble.Open("data/index", &pebble.Options{FS: disk, FormatMajorVersion: pebble.FormatNewest, Logger: silent{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(change(db), db.Close()); err != nil {
			t.Fatal(err)
		}
		if b, err = w.open(disk); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l.search(t, b) // which notices that a run is missing
		mended(t, b)
		l.whole(t, b, name)
		if h := b.Health(); len(h.Aside)+len(h.Records)+h.LostRepositories > 0 {
			t.Errorf("%s: the node has %+v", name, h)
		}
		if got, want := b.SharedRecords(), w.log.All(); got != want {
			t.Errorf("%s: the node has\n%s\nthe log has\n%s", name, got, want)
		}
	}
	closeStore(t, b)
}
