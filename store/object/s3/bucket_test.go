package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/object/s3"
)

// service starts a service with an empty bucket named backups, and points the
// environment at it.
func service(t *testing.T) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "kiln")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "glaze")
}

func open(t *testing.T, address string) *s3.Bucket {
	t.Helper()
	b, err := s3.Open(address, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBucket(t *testing.T) {
	service(t)
	ctx := context.Background()
	for _, address := range []string{"s3://backups", "s3://backups/trawl/", "s3://backups/a/../deep//er"} {
		b := open(t, address)
		if err := b.Put(ctx, "objects/ab/abc", bytes.Repeat([]byte("x"), 5<<20)); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if err := b.Put(ctx, fmt.Sprint("locks/", i), []byte("1")); err != nil {
				t.Fatal(err)
			}
		}
		if data, err := b.Get(ctx, "objects/ab/abc", 5<<20); len(data) != 5<<20 || err != nil {
			t.Errorf("%s: Get: got %d bytes, %v", b, len(data), err)
		}
		if data, err := b.Get(ctx, "objects/ab/abc", 100); err == nil {
			t.Errorf("%s: Get with a limit: got %d bytes, want an error", b, len(data))
		}
		if _, err := b.Get(ctx, "nothing", 100); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: Get of nothing: got %v, want os.ErrNotExist", b, err)
		}
		if err := errors.Join(b.Delete(ctx, "locks/1"), b.Delete(ctx, "locks/9")); err != nil {
			t.Errorf("%s: Delete: %v", b, err)
		}
		var names []string
		err := b.List(ctx, "locks", func(s object.Info) error {
			names = append(names, fmt.Sprint(s.Name, " ", s.Size))
			return nil
		})
		if want := []string{"locks/0 1", "locks/2 1"}; !slices.Equal(names, want) || err != nil {
			t.Errorf("%s: List: got %q, %v; want %q", b, names, err, want)
		}
		if err := b.List(ctx, "none", func(object.Info) error { return errors.New("something") }); err != nil {
			t.Errorf("%s: List of a folder that is not there: %v", b, err)
		}
	}
}

func TestOpen(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct{ address, endpoint, want string }{
		{"s3://bucket/prefix", "", ""},
		{"s3://bucket", "http://127.0.0.1:9000", ""},
		{"s3:///prefix", "", "that is no bucket"},
		{"https://bucket/prefix", "", "that is no bucket"},
		{"s3://b/prefix", "", `"b" cannot be a bucket`},
		{"s3://key:secret@bucket/prefix", "", "an address holds no keys"},
		{"s3://bucket", "127.0.0.1:9000", "AWS_ENDPOINT_URL is no address"},
		{"s3://bucket", "ftp://example.org", "AWS_ENDPOINT_URL is no address"},
	} {
		getenv := none
		if c.endpoint != "" {
			getenv = func(name string) string {
				if name == "AWS_ENDPOINT_URL" {
					return c.endpoint
				}
				return ""
			}
		}
		b, err := s3.Open(c.address, getenv)
		switch {
		case c.want == "" && (err != nil || b.String() != c.address):
			t.Errorf("Open(%q) with %q: got %v, %v", c.address, c.endpoint, b, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret@")):
			t.Errorf("Open(%q) with %q: got %v, want %q in it", c.address, c.endpoint, err, c.want)
		}
	}
}

func TestNoBucket(t *testing.T) {
	service(t)
	err := open(t, "s3://other/trawl").Put(context.Background(), "locks/1", []byte("1"))
	if err == nil || !strings.Contains(err.Error(), "no bucket") {
		t.Errorf("got %v, want that there is no bucket", err)
	}
}

// Backups there are like those in a folder.
func TestBackup(t *testing.T) {
	service(t)
	ctx := context.Background()
	fs := vfs.NewMem()
	st, err := store.Open("data", store.Options{FS: fs, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	put := func(value string) {
		t.Helper()
		var c store.Records
		c.Put(store.RecordSite, []byte("a"), []byte(value))
		if err := st.CommitRecords(&c); err != nil {
			t.Fatal(err)
		}
	}
	dest := open(t, "s3://backups/trawl")
	if _, err := backup.List(ctx, dest); !errors.Is(err, backup.ErrNoBackups) {
		t.Errorf("List of nothing: got %v, want ErrNoBackups", err)
	}
	for _, value := range []string{"1", "2", "3"} {
		put(value)
		if _, err := backup.Create(ctx, st, dest, backup.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if res, err := backup.Prune(ctx, dest, backup.PruneOptions{Keep: backup.Keep{Last: 2}}); err != nil || len(res.Removed) != 1 || res.Objects == 0 {
		t.Errorf("Prune: got %+v, %v, want that one backup went", res, err)
	}
	if v, err := backup.Verify(ctx, dest, backup.VerifyOptions{}); err != nil || v.Backups != 2 || len(v.Damage) > 0 {
		t.Errorf("Verify: got %+v, %v", v, err)
	}
	if _, err := backup.Restore(ctx, dest, fs, "new", backup.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open("new", store.Options{FS: fs, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := again.Record(store.RecordSite, []byte("a")); string(got) != "3" || err != nil {
		t.Errorf("after Restore: got %q, %v, want 3", got, err)
	}
}
