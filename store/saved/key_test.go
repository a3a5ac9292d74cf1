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

// sealing returns a book without a store, whose secrets a key seals.
func sealing(k *saved.Key) *saved.Book { return saved.Open(nil, saved.Options{Key: k}) }

// A record has secrets sealed only, and no other key opens them.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), saved.KeyFileName)
	b, v := sealing(saved.NewKey(path, true)), &saved.Service{}
	full, shown := `{"token": "S3cr3t"}`, `{"token": "REDACTED"}`
	for range 2 {
		if err := b.Services.SetConfig(v, full, shown); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Services.FullConfig(v); got != full || err != nil || v.Config != shown || bytes.Contains(v.Sealed, []byte("S3cr3t")) {
			t.Errorf("got %q, %v from %+v", got, err, v)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the key: %v, %v; want mode 600", info, err)
	}
	if got, err := sealing(saved.NewKey(path, false)).Services.FullConfig(v); got != full || err != nil {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	other := sealing(saved.NewKey(path+"2", true))
	if err := other.Services.SetConfig(&saved.Service{}, full, shown); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*saved.Book{other, sealing(nil)} {
		if got, err := b.Services.FullConfig(v); !errors.Is(err, saved.ErrSealed) || got != "" {
			t.Errorf("another key: %q, %v; want ErrSealed", got, err)
		}
	}
	if err := b.Services.SetConfig(v, shown, shown); err != nil || v.Sealed != nil {
		t.Errorf("no secrets: %+v, %v", v, err)
	}
	// what cannot be a key
	if err := os.WriteFile(path+"3", []byte("S3cr3t"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := *v
	for _, key := range []*saved.Key{saved.NewKey("", false), saved.NewKey(path+"4", false), saved.NewKey(path+"3", true)} {
		if err := sealing(key).Services.SetConfig(v, full, shown); err == nil || strings.Contains(err.Error(), "S3cr3t") {
			t.Errorf("no key: %v, want an error", err)
		} else if v.Config != before.Config || v.Sealed != nil {
			t.Errorf("without a key the service became %+v", v)
		}
	}
}
