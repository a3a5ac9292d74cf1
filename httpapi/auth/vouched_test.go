package auth_test

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

const userHeader = "X-Forwarded-User"

// vouching has the proxies of 192.0.2.0/24, where requests of tests come from, sign in.
func vouching(t *testing.T) *world {
	w := newWorld(t, identity.Options{})
	w.UserHeader, w.Proxies = userHeader, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	return w
}

func TestUserHeader(t *testing.T) {
	w := vouching(t)
	if _, err := w.reg.CreateUser(identity.Operator, identity.NewUser{Name: "bob", Email: "bob@corp.example", EmailVerified: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.reg.CreateUser(identity.Operator, identity.NewUser{Name: "carl", Email: "carl@corp.example"}); err != nil {
		t.Fatal(err)
	}
	cookie := auth.CookieName + "=" + w.session
	for _, tt := range []struct {
		target, name string
		headers      []string
		want         string
	}{
		{"/search", "ann", nil, "ann"}, {"/search", "ANN", nil, "ann"}, {"/search", "root", nil, "root"},
		{"/search", "bob@corp.example", nil, "bob"}, {"/search", "BOB@corp.example", nil, "bob"},
		// who has no account gets one, and the same one again
		{"/search", "eve", nil, "eve"}, {"/search", "Eve", nil, "eve"},
		{"/search", "dora@corp.example", nil, "dora"}, {"/search", "dora@corp.example", nil, "dora"}, {"/search", "dora@other.example", nil, "dora-2"},
		{"/search", "ann@corp.example", nil, "ann-2"},
		// an address that nobody has verified does not lead to who claims it
		{"/search", "carl@corp.example", nil, "carl-2"},
		// who is locked, is no person or has no possible name does not come in
		{"/search", "locked", nil, "Forbidden: the account locked is locked"}, {"/search", "robot", nil, "Forbidden: the account robot is locked"},
		{"/search", "lab", nil, "Forbidden: the name lab belongs to an organization"}, {"/search", "a b", nil, "Forbidden: "}, {"/search", "a,b", nil, "Forbidden: "}, {"/search", "../x", nil, "Forbidden: "},
		{"/search", "@", nil, "Forbidden: "}, {"/search", "<x@y>", nil, "Forbidden: "}, {"/search", strings.Repeat("a", 5000), nil, "Forbidden: "},
		{"/search", strings.Repeat("a", 5000) + "@corp.example", nil, "Forbidden: "}, {"/search", "\u202eann", nil, "Forbidden: "},
		// it counts for more than a session, and for less than a token
		{"/search", "root", []string{"Cookie", cookie}, "root"}, {"/search", "", []string{"Cookie", cookie}, "ann"},
		{"/search", "root", []string{"Authorization", "token " + w.creds["ann"]}, "ann"}, {"/search", "root", []string{"Authorization", "token nonsense"}, invalid},
		// a browser sends it by itself
		{stream, "ann", nil, private}, {stream, "ann", []string{"X-Requested-With", "x"}, "ann"}, {stream, "ann", []string{"Sec-Fetch-Site", "same-origin"}, "ann"},
		{"/search", "ann", []string{"Origin", "https://evil.example"}, private}, {"/search", "ann", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, private},
	} {
		r := request("GET", tt.target, tt.headers...)
		r.Header.Set(userHeader, tt.name)
		if got, _, _ := w.admit(t, r, auth.ForSearch); got != tt.want && (!strings.HasPrefix(tt.want, "Forbidden") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s by %.80q with %q\ngot  %.200s\nwant %s", tt.target, tt.name, tt.headers, got, tt.want)
		}
	}
}

// Only the proxy's own word counts.
func TestUserHeaderOfOthers(t *testing.T) {
	w := vouching(t)
	for what, change := range map[string]func(headers map[string][]string) (remote string){
		"a client that comes past the proxy": func(map[string][]string) string { return "198.51.100.7:1" },
		"a client that names the proxy": func(h map[string][]string) string {
			h["X-Forwarded-For"] = []string{"192.0.2.1"}
			return "198.51.100.7:1"
		},
		"a client whose header the proxy leaves": func(h map[string][]string) string {
			h[userHeader] = []string{"root", "ann"}
			return "192.0.2.1:1"
		},
		"nothing that has an address": func(map[string][]string) string { return "@" },
	} {
		r := request("GET", "/search")
		r.Header.Set(userHeader, "root")
		r.RemoteAddr = change(r.Header)
		if got, _, _ := w.admit(t, r, auth.ForSearch); got != private {
			t.Errorf("%s: got %s", what, got)
		}
	}
}

func TestUserHeaderBeforeTheFirstUser(t *testing.T) {
	w := vouching(t)
	_, w.reg = newRegistry(t, nil, identity.Options{})
	w.Anonymous = auth.AnonymousNo
	if got, _, _ := w.admit(t, request("GET", "/sign-in", userHeader, "root"), auth.ForPublic); got != "nobody" || w.reg.Used() {
		t.Errorf("got %s, and there are users: %t", got, w.reg.Used())
	}
}

// Requests of one new user make one account.
func TestUserHeaderMakesOneAccount(t *testing.T) {
	w := vouching(t)
	before, err := w.reg.Users()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			name := []string{"eve", "dora@corp.example"}[i%2]
			if got, _, _ := w.admit(t, request("GET", "/search", userHeader, name), auth.ForSearch); !strings.HasPrefix(name, got) {
				t.Errorf("%s is %s", name, got)
			}
		})
	}
	all.Wait()
	after, err := w.reg.Users()
	if err != nil || len(after) != len(before)+2 {
		t.Errorf("%d users have become %d: %v", len(before), len(after), err)
	}
}

// A request ends as its user is locked, as those with sessions do.
func TestUserHeaderEnds(t *testing.T) {
	w := vouching(t)
	in, release, err := w.Admit(httptest.NewRecorder(), request("GET", "/search", userHeader, "ann"), auth.ForSearch)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	w.Recheck()
	if err := in.Context().Err(); err != nil {
		t.Fatalf("ended for nothing: %v", err)
	}
	yes := true
	if _, err := w.reg.ChangeUser(identity.Operator, w.users["ann"].ID, identity.UserChange{Locked: &yes}); err != nil {
		t.Fatal(err)
	}
	<-in.Context().Done()
	if _, _, err := w.Admit(httptest.NewRecorder(), request("GET", "/search", userHeader, "ann"), auth.ForSearch); err == nil {
		t.Error("a locked user comes in")
	}
}

func TestParseUserHeader(t *testing.T) {
	for name, want := range map[string]string{
		"X-Forwarded-User": userHeader, "x-forwarded-user": userHeader, "Remote-User": "Remote-User",
		"": "", "a b": "", "X:": "", "-": "", "Cookie": "", "authorization": "", "X-Forwarded-For": "", "x-trawl-admin-token": "", "ü": "",
	} {
		if got, err := auth.ParseUserHeader(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", name, got, err, want)
		}
	}
}
