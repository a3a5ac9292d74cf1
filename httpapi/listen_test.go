package httpapi_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
)

// outward returns an address of this machine that others reach, "" if there is
// none.
func outward(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return ""
}

// The operator's token opens nothing over an address that others reach, and a
// server that listens on such an address only has one of loopback for it.
func TestOperatorOverLoopbackOnly(t *testing.T) {
	hosts := []string{"127.0.0.1", ""}
	if host := outward(t); host != "" {
		hosts = append(hosts, host)
	}
	for _, host := range hosts {
		operator := &admin.Handlers{Repositories: func() admin.Repositories {
			return &fakeRepositories{list: func() ([]*store.Repository, error) { return nil, nil }}
		}}
		s := &httpapi.Server{Addr: net.JoinHostPort(host, "0"), Log: zerolog.Nop(), Extra: operator.Routes(), Gate: &auth.Gate{OperatorToken: adminToken}}
		if err := s.Open(); err != nil {
			t.Fatal(err)
		}
		ask := func(address string) int {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+admin.RepositoriesPath, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(auth.OperatorHeader, adminToken)
			req.Close = true
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode
		}
		_, port, _ := net.SplitHostPort(s.LocalAddr())
		if got := ask("127.0.0.1:" + port); got != 200 {
			t.Errorf("listening on %q, over loopback: got %d, want 200", host, got)
		}
		if public := outward(t); host != "127.0.0.1" && public != "" {
			_, port, _ := net.SplitHostPort(s.URL()[len("http://"):])
			if got := ask(net.JoinHostPort(public, port)); got != 403 {
				t.Errorf("listening on %q, over %s: got %d, want 403", host, public, got)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// With an external URL only probes are answered under another name.
func TestHostOfAnotherServer(t *testing.T) {
	s := &httpapi.Server{Log: zerolog.Nop(), Gate: &auth.Gate{Anonymous: auth.AnonymousYes, Reach: auth.Reach{ExternalURL: "https://search.example.org"}}}
	h := s.Handler()
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/", 421}, {"GET", "/.api/search/stream?q=x", 421}, {"GET", "/search/stream?q=x", 421}, {"GET", "/nothing", 421},
		{"POST", "/nothing", 421}, {"OPTIONS", "/.api/search/stream", 421}, {"GET", "/healthz", 200}, {"GET", "/readyz", 200},
	} {
		r := httptest.NewRequest(c.method, "http://evil.example"+c.path, nil)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s %s: got %d %q, want %d", c.method, c.path, w.Code, w.Body, c.want)
		}
	}
}
