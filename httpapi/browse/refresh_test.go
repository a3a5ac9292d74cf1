package browse_test

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/store/identity"
)

func TestRefresh(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		as, path string
		status   int
		body     string
	}{
		{"ann", "/.api/repos/lab/kiln/-/refresh", 200, ""},
		{"ann", "/.api/repos/lab/secret/-/refresh", 200, ""},
		{"ann", "/.api/repos/lab/next/-/refresh", 200, ""},
		{"bob", "/.api/repos/lab/secret/-/refresh", 404, "repository not found\n"},
		{"bob", "/.api/repos/lab/none/-/refresh", 404, "repository not found\n"},
		{"", "/.api/repos/lab/kiln/-/refresh", 401, "Private mode requires authentication.\n"},
		{"", "/.api/repos/lab/none/-/refresh", 401, "Private mode requires authentication.\n"},
	} {
		var header []string
		if tt.as != "" {
			header = w.As(tt.as)
		}
		if got := w.ask("POST", tt.path, header...); got.status != tt.status || got.body != tt.body {
			t.Errorf("%s as %q: got %d %q, want %d %q", tt.path, tt.as, got.status, got.body, tt.status, tt.body)
		}
	}
	if want := []string{"lab/kiln", "lab/secret", "lab/next"}; !slices.Equal(w.refreshed, want) {
		t.Errorf("refreshed %q, want %q", w.refreshed, want)
	}
	log, err := w.Registry.Audit(identity.AuditFilter{Limit: 1})
	if err != nil || len(log) != 1 || log[0].Action != "repository.refresh" || log[0].Target != "lab/next" || log[0].User != "ann" {
		t.Errorf("the last line of the audit log is %+v, %v", log, err)
	}
	last := 0
	for range 20 {
		got := w.ask("POST", "/.api/repos/lab/kiln/-/refresh", w.As("ann")...)
		if last = got.status; last == 429 {
			if got.header.Get("Retry-After") == "" {
				t.Error("429 does not say when to try again")
			}
			break
		}
	}
	if last != 429 {
		t.Errorf("20 more in no time: the last is answered %d, want 429", last)
	}
}
