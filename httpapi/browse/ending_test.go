package browse_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// A download ends with its token: what comes is less than was announced.
func TestRawEndsWithItsToken(t *testing.T) {
	const size = 48 << 20 // more than the system holds for a client that does not read
	w := newWorld(t)
	w.kiln.Write("large.txt", strings.Repeat("0123456789abcde\n", size/16))
	w.kiln.Commit("Add a large file")
	w.Sync("lab/kiln")
	for _, target := range []string{"/lab/kiln/-/raw/large.txt", "/lab/kiln/-/raw?format=tar"} {
		month := 30 * 24 * time.Hour
		ann, err := w.Registry.UserNamed("ann")
		if err != nil {
			t.Fatal(err)
		}
		token, _, err := w.Registry.CreateToken(identity.Operator, identity.NewToken{User: ann.ID, Scopes: []string{identity.ScopeAll}, Lifetime: &month})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", w.URL+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "token "+token)
		resp, err := w.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: got %s", target, resp.Status)
		}
		if err := w.Registry.RevokeTokenText(identity.Operator, token); err != nil {
			t.Fatal(err)
		}
		w.Gate.Recheck()
		revoked := time.Now()
		n, err := io.Copy(io.Discard, resp.Body)
		if took := time.Since(revoked); err == nil || n >= size || took > 30*time.Second {
			t.Errorf("%s: %d bytes and %v came %v after the token was revoked, want fewer and an error within 30 s", target, n, err, took)
		}
		_ = resp.Body.Close()
	}
}
