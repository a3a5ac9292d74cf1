package saved_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/saved"
)

// A record has secrets sealed only, and no other key opens them.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), saved.KeyFileName)
	b, v := &saved.Book{Key: saved.NewKey(path, true)}, &saved.Service{}
	full, shown := `{"token": "S3cr3t"}`, `{"token": "REDACTED"}`
	for range 2 {
		if err := b.SetConfig(v, full, shown); err != nil {
			t.Fatal(err)
		}
		if got, err := b.FullConfig(v); got != full || err != nil || v.Config != shown || bytes.Contains(v.Sealed, []byte("S3cr3t")) {
			t.Errorf("got %q, %v from %+v", got, err, v)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the key: %v, %v; want mode 600", info, err)
	}
	if got, err := (&saved.Book{Key: saved.NewKey(path, false)}).FullConfig(v); got != full || err != nil {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	other := &saved.Book{Key: saved.NewKey(path+"2", true)}
	if err := other.SetConfig(&saved.Service{}, full, shown); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*saved.Book{other, {}} {
		if got, err := b.FullConfig(v); !errors.Is(err, saved.ErrSealed) || got != "" {
			t.Errorf("another key: %q, %v; want ErrSealed", got, err)
		}
	}
	if err := b.SetConfig(v, shown, shown); err != nil || v.Sealed != nil {
		t.Errorf("no secrets: %+v, %v", v, err)
	}
	// what cannot be a key
	if err := os.WriteFile(path+"3", []byte("S3cr3t"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := *v
	for _, key := range []*saved.Key{saved.NewKey("", false), saved.NewKey(path+"4", false), saved.NewKey(path+"3", true)} {
		if err := (&saved.Book{Key: key}).SetConfig(v, full, shown); err == nil || strings.Contains(err.Error(), "S3cr3t") {
			t.Errorf("no key: %v, want an error", err)
		} else if v.Config != before.Config || v.Sealed != nil {
			t.Errorf("without a key the service became %+v", v)
		}
	}
}
