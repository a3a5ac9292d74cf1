package service_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/hosttest"
	"github.com/trawlsearch/trawl/store/identity"
)

// Who may read a private repository at its host may here, by an address that both have
// verified. Before the host says it, and while it cannot, nobody sees more than before.
func TestReadersOfTheHost(t *testing.T) {
	h := newHosted(t, time.Hour)
	operator := identity.Author{Operator: true}
	users := map[string]uint32{}
	for _, n := range []identity.NewUser{
		{Name: "root", SiteAdmin: true}, {Name: "ann", Email: "ann@example.org", EmailVerified: true}, {Name: "bob", Email: "bob@example.org"},
		{Name: "eve", Email: "eve@example.org", EmailVerified: true},
	} {
		u, err := h.Registry().CreateUser(operator, n)
		if err != nil {
			t.Fatal(err)
		}
		users[n.Name] = u.ID
	}
	put := func(private bool, readers ...hosttest.User) {
		t.Helper()
		h.put(1, "acme/kiln", private)
		h.host.Put(hosttest.Repo{ID: 1, FullName: "acme/kiln", Private: private, Dir: h.host.Dir(1), Readers: readers})
	}
	ann, bob := hosttest.User{ID: 5, Login: "ann", Email: "ANN@example.org"}, hosttest.User{ID: 6, Login: "bob", Email: "bob@example.org"}
	eve := hosttest.User{ID: 7, Login: "eve", Email: "eve@example.org", Unconfirmed: true}
	readers := func(step, want string) {
		t.Helper()
		got, err := h.Registry().FormatReaders(h.record("acme/kiln").Readers)
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: the readers are %q, %v; want %s", step, got, err, want)
		}
	}
	deny := func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/collaborators") {
			return false
		}
		h.host.API.Fail(rw, http.StatusForbidden, "Must have push access to view repository collaborators.")
		return true
	}
	put(true, ann, bob, eve)
	h.host.Fault(deny)
	h.add(`"orgs": ["acme"], "authorization": {}`)
	readers("the host cannot say", "nobody")
	if v := h.sync(); !strings.Contains(v.Warning, "readers of 127.0.0.1/acme/kiln: the host answered 403") {
		t.Errorf("the warning is %q", v.Warning)
	}
	h.host.Fault(nil)
	h.sync()
	readers("it says", "user:ann")
	h.host.Fault(deny)
	h.sync()
	readers("it cannot say any more", "user:ann")
	h.host.Fault(nil)
	put(true, bob)
	h.sync()
	readers("another may read it", "nobody")
	put(false)
	h.sync()
	readers("it is public", "everyone")
	h.host.Fault(deny)
	put(true, ann)
	h.sync()
	readers("it is private again", "nobody")
	h.host.Fault(nil)
	h.sync()
	readers("it says again", "user:ann")

	// Readers that an admin has set are the admin's.
	put(false)
	h.sync()
	if _, err := h.Registry().SetReaders(operator, "127.0.0.1/acme/kiln", []string{"user:eve"}); err != nil {
		t.Fatal(err)
	}
	put(true, ann)
	h.sync()
	readers("an admin has set them", "user:eve")
}
