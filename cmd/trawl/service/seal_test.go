package service_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/store/saved"
)

// Secrets that an older program wrote down as they are get sealed, and stay as they are
// where the key cannot be read.
func TestSealServices(t *testing.T) {
	const full = `{"url": "https://host.invalid", "token": "S3cr3t", "orgs": ["acme"]}`
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes = t.TempDir(), 0
	key := filepath.Join(set.Data, saved.KeyFileName)
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
		s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		book := s.GraphQL().Book
		all, err := book.Services()
		if err == nil && len(all) == 0 {
			_, err = book.AddService(saved.Service{Kind: "GITHUB", DisplayName: "hub", Config: full})
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // which seals, and asks no host
		s.KeepServices(ctx, 0)
		v, err := book.Service(1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := book.FullConfig(v); got != full || err != nil || (len(v.Sealed) > 0) != c.sealed || strings.Contains(v.Config, "S3cr3t") == c.sealed {
			t.Errorf("with %s: %q, %v of %+v", c.name, got, err, v)
		}
		s.Stop()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
