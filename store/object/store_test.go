package object_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/object/s3"
)

// stores are one of each kind, empty.
func stores(t *testing.T) map[string]object.Store {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("objects"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	all := map[string]object.Store{
		"memory": object.NewFolder(vfs.NewMem(), "objects"),
		"disk":   object.NewFolder(disk.OS(), filepath.Join(t.TempDir(), "deep", "objects")),
	}
	for name, address := range map[string]string{"bucket": "s3://objects", "prefix": "s3://objects/a/prefix"} {
		b, err := s3.Open(address, func(name string) string {
			return map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "kiln")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "glaze")
	return all
}

func bytesOf(seed uint64, n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(data)
	return data
}

func contentOf(data []byte) object.Content {
	return object.Content{Size: int64(len(data)), SHA256: sha256.Sum256(data)}
}

// Large objects come back as they were, at every border of parts and ranges.
func TestLarge(t *testing.T) {
	for kind, st := range stores(t) {
		for i, n := range []int{1, 4<<20 - 1, 4 << 20, 4<<20 + 1, 8 << 20, 8<<20 + 1, 20<<20 + 3} {
			data := bytesOf(uint64(i), n)
			if err := st.Upload(t.Context(), "large/a", bytes.NewReader(data), contentOf(data)); err != nil {
				t.Fatalf("%s: Upload of %d bytes: %v", kind, n, err)
			}
			var got bytes.Buffer
			if err := st.Download(t.Context(), "large/a", &got, contentOf(data)); err != nil || !bytes.Equal(got.Bytes(), data) {
				t.Errorf("%s: Download of %d bytes: got %d, equal: %v, %v", kind, n, got.Len(), bytes.Equal(got.Bytes(), data), err)
			}
			var listed []object.Info
			err := st.List(t.Context(), "large", func(o object.Info) error {
				listed = append(listed, o)
				return nil
			})
			if err != nil || len(listed) != 1 || listed[0].Name != "large/a" || listed[0].Size != int64(n) || time.Since(listed[0].Changed).Abs() > time.Hour {
				t.Errorf("%s: List: got %v, %v, want one of %d bytes, stored now", kind, listed, err, n)
			}
		}
	}
}

// A source of other bytes than it should have is not stored.
func TestUploadOfOtherBytes(t *testing.T) {
	for kind, st := range stores(t) {
		for _, n := range []int{100, 9 << 20} {
			old, data := []byte("old"), bytesOf(1, n)
			if err := st.Put(t.Context(), "a", bytes.Clone(old)); err != nil {
				t.Fatal(err)
			}
			other := bytes.Clone(data)
			other[n-1]++
			for what, source := range map[string][]byte{"shorter": data[:n-1], "longer": append(bytes.Clone(data), 0), "other": other, "empty": nil} {
				err := st.Upload(t.Context(), "a", bytes.NewReader(source), contentOf(data))
				if !errors.As(err, new(*object.ContentError)) || !strings.HasPrefix(err.Error(), "store ") || !strings.Contains(err.Error(), "a: ") {
					t.Errorf("%s: %s source: got %v, want a ContentError that names the object", kind, what, err)
				}
			}
			if got, err := st.Get(t.Context(), "a", 1<<30); !bytes.Equal(got, old) || err != nil {
				t.Errorf("%s: got %d bytes, %v, want the old ones", kind, len(got), err)
			}
		}
	}
}

// An object that is not what it has to be is found, and named.
func TestDownloadOfOtherBytes(t *testing.T) {
	for kind, st := range stores(t) {
		for _, n := range []int{100, 4 << 20, 9 << 20} {
			data := bytesOf(1, n)
			other := bytes.Clone(data)
			other[n/2]++
			for what, is := range map[string][]byte{"shorter": data[:n-1], "half": data[:n/2], "longer": append(bytes.Clone(data), 0), "other": other, "one byte": data[:1], "missing": nil} {
				if err := st.Delete(t.Context(), "shards/1"); err != nil {
					t.Fatal(err)
				}
				if is != nil {
					if err := st.Put(t.Context(), "shards/1", bytes.Clone(is)); err != nil {
						t.Fatal(err)
					}
				}
				var got bytes.Buffer
				err := st.Download(t.Context(), "shards/1", &got, contentOf(data))
				damage := (*object.DamagedError)(nil)
				if !errors.As(err, &damage) || damage.Name != "shards/1" {
					t.Errorf("%s, %d bytes: %s object: got %v, want a DamagedError that names it", kind, n, what, err)
				}
				if got.Len() > n {
					t.Errorf("%s, %d bytes: %s object: got %d bytes", kind, n, what, got.Len())
				}
			}
		}
	}
}

// A writer that fails ends a download, and so does its context an upload.
func TestLargeEnds(t *testing.T) {
	for kind, st := range stores(t) {
		data := bytesOf(1, 30<<20)
		if err := st.Put(t.Context(), "a", bytes.Clone(data)); err != nil {
			t.Fatal(err)
		}
		if err := st.Download(t.Context(), "a", full{}, contentOf(data)); !errors.Is(err, errFull) {
			t.Errorf("%s: Download to a full disk: got %v", kind, err)
		}
		source := &endingSource{Reader: bytes.NewReader(data)}
		ctx, cancel := context.WithCancel(t.Context())
		source.end = cancel
		if err := st.Upload(ctx, "b", source, contentOf(data)); err == nil {
			t.Errorf("%s: an upload went on behind the end of its context", kind)
		}
		if _, err := st.Get(t.Context(), "b", 1<<30); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: after an upload that ended: got %v, want os.ErrNotExist", kind, err)
		}
	}
}

var errFull = errors.New("no space left")

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// endingSource ends the context of its upload behind the first megabyte.
type endingSource struct {
	*bytes.Reader
	end func()
}

func (s *endingSource) ReadAt(p []byte, at int64) (int, error) {
	if at > 1<<20 {
		s.end()
	}
	return s.Reader.ReadAt(p, at)
}

// Sweep removes what is left of uploads that were interrupted long ago, and nothing
// else.
func TestSweep(t *testing.T) {
	fs := vfs.NewMem()
	st := object.NewFolder(fs, "objects")
	data := bytesOf(1, 3<<20)
	if err := st.Upload(t.Context(), "shards/1", bytes.NewReader(data), contentOf(data)); err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteSynced(fs, "objects/shards/tmp-left", data); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		list, err := fs.List("objects/shards")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	now := time.Now()
	for _, c := range []struct {
		now  time.Time
		want string
	}{{now, "1 tmp-left"}, {now.Add(23 * time.Hour), "1 tmp-left"}, {now.Add(25 * time.Hour), "1"}} {
		if err := st.Sweep(t.Context(), c.now); err != nil || names() != c.want {
			t.Errorf("Sweep at %v: there is %q, %v; want %q", c.now, names(), err, c.want)
		}
	}
}
