package hostsync

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// Secrets that an older program wrote down as they are get sealed, and stay as they are
// where the key cannot be read.
func TestSealServices(t *testing.T) {
	const full = `{"url": "https://host.invalid", "token": "S3cr3t", "orgs": ["acme"]}`
	st, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	key := filepath.Join(st.Dir(), saved.KeyFileName)
	for _, c := range []struct {
		name, key string
		sealed    bool
	}{
		{"a key that is none", "no key\n", false},
		{"a key", strings.Repeat("0f", 32) + "\n", true},
	} {
		if err := os.WriteFile(key, []byte(c.key), 0o600); err != nil {
			t.Fatal(err)
		}
		book := saved.Open(st, saved.Options{Key: saved.NewKey(key, true)})
		s := NewServices(&Keeper{Store: st, Book: book, Log: zerolog.Nop()}, nil, nil)
		all, err := book.Services.All()
		if err == nil && len(all) == 0 {
			_, err = book.Services.Add(saved.Service{Kind: "GITHUB", DisplayName: "hub", Config: full})
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // which seals, and asks no host
		s.Follow(ctx, 0)
		v, err := book.Services.Get(1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := book.Services.FullConfig(v); got != full || err != nil || (len(v.Sealed) > 0) != c.sealed || strings.Contains(v.Config, "S3cr3t") == c.sealed {
			t.Errorf("with %s: %q, %v of %+v", c.name, got, err, v)
		}
	}
}
