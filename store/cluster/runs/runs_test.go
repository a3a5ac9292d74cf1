package runs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/object/s3"
	"github.com/trawlsearch/trawl/store/shard"
)

// stores are a folder and a bucket.
func stores(t *testing.T) map[string]object.Store {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "kiln")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "glaze")
	backend := s3mem.New()
	if err := backend.CreateBucket("cluster"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	bucket, err := s3.Open("s3://cluster/trawl", func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]object.Store{"folder": object.NewFolder(vfs.NewMem(), "cluster"), "bucket": bucket}
}

// run makes a run of a shard; what is in it does not matter here.
func run(number uint32, part shard.Part, n int) (shard.File, []byte) {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(number), byte(part)}).Read(data)
	return shard.File{Shard: number, Part: part, Content: object.Content{Size: int64(n), SHA256: sha256.Sum256(data)}}, data
}

func TestNames(t *testing.T) {
	f, _ := run(4294967295, shard.PartSymbols, 1)
	name := runs.Name(f)
	if !strings.HasPrefix(name, "shards/4294967295-symbols-") || len(name) != len("shards/4294967295-symbols-")+64 {
		t.Errorf("Name: got %q", name)
	}
	got, ok := runs.Parse(name)
	if got.Size = f.Size; !ok || got != f {
		t.Errorf("Parse(%q): got %+v, %v; want %+v", name, got, ok, f)
	}
	for _, other := range []string{
		"", "shards/", "shards/1-text-", name + "0", name[:len(name)-1], strings.ToUpper(name), "other/" + name[7:], name[7:],
		strings.Replace(name, "4294967295", "4294967296", 1), strings.Replace(name, "4294967295", "01", 1), strings.Replace(name, "4294967295", "+1", 1),
		strings.Replace(name, "symbols", "lists", 1), strings.Replace(name, "shards/", "shards/../", 1), "shards/clock-abc",
	} {
		if f, ok := runs.Parse(other); ok {
			t.Errorf("Parse(%q): got %+v", other, f)
		}
	}
}

// taker takes runs in, as a node does.
type taker struct {
	mu        sync.Mutex
	got       map[string][]byte
	now, most int
	met       chan struct{}
}

func (k *taker) take(_ context.Context, f shard.File, fill func(io.Writer) error) error {
	k.mu.Lock()
	if k.now++; k.met != nil && k.now == 3 && k.most < 3 {
		close(k.met) // three at once
	}
	k.most = max(k.most, k.now)
	k.mu.Unlock()
	if k.met != nil {
		<-k.met
	}
	var file bytes.Buffer
	err := fill(&file)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now--
	if err == nil {
		k.got[runs.Name(f)] = file.Bytes()
	}
	return err
}

// Runs are fetched side by side, a few at once.
func TestPutFetch(t *testing.T) {
	for kind, st := range stores(t) {
		r := runs.New(st)
		var wanted []shard.File
		want := map[string][]byte{}
		for i := range uint32(10) {
			f, data := run(i+1, shard.Part(1+i%2), 1+int(i)<<20)
			name, err := r.Put(t.Context(), f, bytes.NewReader(data))
			if err != nil || name != runs.Name(f) {
				t.Fatalf("%s: Put: got %q, %v", kind, name, err)
			}
			wanted, want[name] = append(wanted, f), data
		}
		k := &taker{got: map[string][]byte{}, met: make(chan struct{})}
		if err := r.Fetch(t.Context(), wanted, k.take); err != nil {
			t.Fatalf("%s: Fetch: %v", kind, err)
		}
		if !maps.EqualFunc(k.got, want, bytes.Equal) || k.most != 3 {
			t.Errorf("%s: got %d runs, %d at once, want %d, 3 at once", kind, len(k.got), k.most, len(want))
		}
	}
}

// Damaged and missing runs are named, and the others are taken. A damaged one is
// replaced by the same run of a sound node.
func TestFetchDamage(t *testing.T) {
	for kind, st := range stores(t) {
		r := runs.New(st)
		var wanted []shard.File
		var data [][]byte
		for i := range uint32(6) {
			f, bytesOf := run(i+1, shard.PartText, 5000)
			if _, err := r.Put(t.Context(), f, bytes.NewReader(bytesOf)); err != nil {
				t.Fatal(err)
			}
			wanted, data = append(wanted, f), append(data, bytesOf)
		}
		flipped := bytes.Clone(data[1])
		flipped[77]++
		err := errors.Join(
			st.Put(t.Context(), runs.Name(wanted[1]), flipped), st.Put(t.Context(), runs.Name(wanted[3]), bytes.Clone(data[3][:100])),
			st.Delete(t.Context(), runs.Name(wanted[4])),
		)
		if err != nil {
			t.Fatal(err)
		}
		k := &taker{got: map[string][]byte{}}
		err = r.Fetch(t.Context(), wanted, k.take)
		for i, f := range wanted {
			bad := i == 1 || i == 3 || i == 4
			if named := err != nil && strings.Contains(err.Error(), runs.Name(f)); named != bad || (k.got[runs.Name(f)] == nil) != bad {
				t.Errorf("%s: run %d: that it is damaged is %v, named %v, taken %v: %v", kind, i, bad, named, k.got[runs.Name(f)] != nil, err)
			}
		}
		if !errors.As(err, new(*object.DamagedError)) {
			t.Errorf("%s: got %v, want a DamagedError", kind, err)
		}
		for _, i := range []int{1, 3, 4} {
			if _, err := r.Put(t.Context(), wanted[i], bytes.NewReader(data[i])); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Fetch(t.Context(), wanted, k.take); err != nil || len(k.got) != 6 {
			t.Errorf("%s: after mending: %d runs, %v", kind, len(k.got), err)
		}
	}
}

// Another error ends a fetch: a node that cannot take runs in does not go on.
func TestFetchEnds(t *testing.T) {
	r := runs.New(object.NewFolder(vfs.NewMem(), "cluster"))
	var wanted []shard.File
	for i := range uint32(50) {
		f, data := run(i+1, shard.PartText, 100)
		if _, err := r.Put(t.Context(), f, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, f)
	}
	full := errors.New("no space left")
	calls := 0
	var mu sync.Mutex
	err := r.Fetch(t.Context(), wanted, func(context.Context, shard.File, func(io.Writer) error) error {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return full
	})
	if !errors.Is(err, full) || calls > 10 {
		t.Errorf("got %v after %d calls, want that the disk is full after a few", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Fetch(ctx, wanted, (&taker{got: map[string][]byte{}}).take); !errors.Is(err, context.Canceled) {
		t.Errorf("a fetch whose context has ended: got %v", err)
	}
}

// aged is a store that lists objects as older than they are.
type aged struct {
	object.Store
	ages map[string]time.Duration
	// skew is how wrong its clock is, passed how much time has passed.
	skew, passed time.Duration
	hide         bool
}

func (a *aged) List(ctx context.Context, folder string, each func(object.Info) error) error {
	return a.Store.List(ctx, folder, func(it object.Info) error {
		it.Changed = it.Changed.Add(a.skew - a.ages[it.Name])
		if _, old := a.ages[it.Name]; !old && strings.Contains(it.Name, "clock-") {
			it.Changed = it.Changed.Add(a.passed)
			if a.hide {
				return nil
			}
		}
		return each(it)
	})
}

// naming is the function that Sweep asks for what records name.
func naming(files ...shard.File) func(context.Context) ([]shard.File, error) {
	return func(context.Context) ([]shard.File, error) { return files, nil }
}

// Sweep deletes what is old and has not been named for a while, and no other object,
// also where another node sweeps next.
func TestSweep(t *testing.T) {
	for kind, st := range stores(t) {
		for _, skew := range []time.Duration{0, -1000 * time.Hour, 1000 * time.Hour} { // a clock is wrong
			a := &aged{Store: st, ages: map[string]time.Duration{}, skew: skew}
			put := func(number uint32, age time.Duration) shard.File {
				t.Helper()
				f, data := run(number, shard.PartText, 100)
				name, err := runs.New(a).Put(t.Context(), f, bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				a.ages[name] = age - a.passed
				return f
			}
			sweep := func(at time.Duration, want int, named ...shard.File) {
				t.Helper()
				a.passed = at
				got, err := runs.New(a).SweepAfter(t.Context(), runs.SweepOptions{}, naming(named...))
				if err != nil || got.Objects != want {
					t.Errorf("%s, after %v: swept %+v, %v; want %d objects", kind, at, got, err, want)
				}
			}
			put(1, 0)
			put(2, 23*time.Hour)
			old, kept := put(3, 1000*time.Hour), put(4, 1000*time.Hour)
			var others []string
			for _, other := range []string{"shards/readme", "shards/1-text-short", "shards/deep/1-text-" + strings.Repeat("0", 64), "manifests/x"} {
				if err := st.Put(t.Context(), other, []byte("not ours")); err != nil {
					t.Fatal(err)
				}
				a.ages[other] = 1000 * time.Hour
				others = append(others, other)
			}
			for _, left := range []string{"shards/clock-left", "asked/9-text-" + strings.Repeat("0", 64)} {
				if err := st.Put(t.Context(), left, []byte("now")); err != nil {
					t.Fatal(err)
				}
				a.ages[left] = 23 * time.Hour
			}
			sweep(0, 0, old, kept)
			sweep(50*time.Minute, 0, kept)
			sweep(109*time.Minute, 3, kept) // what is older than a day now
			sweep(111*time.Minute, 1, kept) // old, whose hour began when a sweep first missed it
			old = put(3, 1000*time.Hour)    // it is stored and named again
			sweep(112*time.Minute, 0, kept, old)
			sweep(113*time.Minute, 0, kept)
			sweep(172*time.Minute, 0, kept) // its hour began anew
			sweep(174*time.Minute, 1, kept)
			sweep(23*time.Hour+58*time.Minute, 0, kept)
			sweep(24*time.Hour+time.Minute, 1, kept) // the first one, written a day ago
			sweep(1000*time.Hour, 0, kept)
			want := append(slices.Clone(others), runs.Name(kept), "shards/unnamed")
			slices.Sort(want)
			if got := names(t, st); !slices.Equal(got, want) {
				t.Errorf("%s: there is\n%q\nwant\n%q", kind, got, want)
			}
			for _, name := range names(t, st) {
				if err := st.Delete(t.Context(), name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Where it is not known since when a run has been unnamed the time begins anew.
func TestSweepForgets(t *testing.T) {
	st := object.NewFolder(vfs.NewMem(), "cluster")
	a := &aged{Store: st, ages: map[string]time.Duration{}}
	f, data := run(1, shard.PartText, 100)
	name, err := runs.New(a).Put(t.Context(), f, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	a.ages[name] = 1000 * time.Hour
	for n, damage := range []string{"", "{", `{"` + name + `": "tomorrow"}`, `{"` + name + `": "2999-01-01T00:00:00Z"}`} {
		if damage != "" {
			if err := st.Put(t.Context(), "shards/unnamed", []byte(damage)); err != nil {
				t.Fatal(err)
			}
		}
		a.passed += time.Hour
		if got, err := runs.New(a).SweepAfter(t.Context(), runs.SweepOptions{}, naming()); got.Objects != 0 || err != nil {
			t.Errorf("sweep %d, with %q: %+v, %v, want nothing swept", n, damage, got, err)
		}
	}
	a.passed += time.Hour
	if objects, size, err := runs.New(a).Sweep(t.Context(), naming()); objects != 1 || size != 100 || err != nil {
		t.Errorf("an hour later: %d objects of %d bytes, %v, want the run", objects, size, err)
	}
}

// Runs belong to the first cluster that has them, and are not taken for those of one
// that has stored some elsewhere.
func TestBelong(t *testing.T) {
	for kind, st := range stores(t) {
		r := runs.New(st)
		if err := r.Belong(t.Context(), []byte{1}, false); err == nil || !strings.Contains(err.Error(), "the line 01") {
			t.Errorf("%s: nothing is there of a cluster that has stored some: %v", kind, err)
		}
		for range 2 {
			if err := r.Belong(t.Context(), []byte{1}, true); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Belong(t.Context(), []byte{1}, false); err != nil {
			t.Errorf("%s: its own: %v", kind, err)
		}
		for _, none := range []bool{false, true} {
			if err := r.Belong(t.Context(), []byte{2}, none); err == nil || !strings.Contains(err.Error(), "another cluster") {
				t.Errorf("%s: another's: %v", kind, err)
			}
		}
	}
}

// A node asks for a run, others see it, and one says that it was stored.
func TestAsk(t *testing.T) {
	for kind, st := range stores(t) {
		r := runs.New(st)
		f, _ := run(7, shard.PartSymbols, 100)
		want := f
		want.Size = 0
		for range 2 {
			if err := r.Ask(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := r.Asked(t.Context()); err != nil || !slices.Equal(got, []shard.File{want}) {
			t.Errorf("%s: asked for %+v, %v, want %+v", kind, got, err, want)
		}
		if err := r.Answered(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Asked(t.Context()); err != nil || len(got) > 0 {
			t.Errorf("%s: asked for %+v behind the answer, %v", kind, got, err)
		}
	}
}

func names(t testing.TB, st object.Store) (all []string) {
	t.Helper()
	err := st.List(t.Context(), ".", func(it object.Info) error {
		all = append(all, it.Name)
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// A sweep that does not know what is needed, or what time it is, deletes nothing.
func TestSweepWithoutNeeds(t *testing.T) {
	st := object.NewFolder(vfs.NewMem(), "cluster")
	a := &aged{Store: st, ages: map[string]time.Duration{}}
	r := runs.New(a)
	f, data := run(1, shard.PartText, 100)
	name, err := r.Put(t.Context(), f, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	a.ages[name] = 1000 * time.Hour
	away := errors.New("the database is away")
	unknown := func(context.Context) ([]shard.File, error) { return nil, away }
	if _, _, err := r.Sweep(t.Context(), unknown); !errors.Is(err, away) {
		t.Errorf("got %v, want that the database is away", err)
	}
	a.hide = true
	if _, _, err := r.Sweep(t.Context(), naming()); err == nil {
		t.Error("a list without the object just stored was believed")
	}
	if got := names(t, st); fmt.Sprint(got) != "["+name+"]" {
		t.Errorf("there is %q, want %q", got, name)
	}
}
