package httpapi_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestClientRoutes(t *testing.T) {
	s := newSite(t, nothing)
	s.Gate.Anonymous = auth.AnonymousNo
	_, token := s.user(t, identity.NewUser{Name: "ann"})
	for _, tt := range []struct {
		path, token string
		status      int
		contentType string
		body        string
	}{
		// without a word about who asks
		{"/__version", "", 200, "text/plain; charset=utf-8", "7.1.0"},
		{"/__version", "rubbish", 200, "text/plain; charset=utf-8", "7.1.0"},
		{"/.api/src-cli/version", "", 200, "application/json", `{"version":"6.7.1104"}` + "\n"},
		{"/robots.txt", "", 200, "text/plain; charset=utf-8", "User-agent: *\nDisallow: /\n"},
		{"/.api/src-cli/src_linux_386", "", 404, "text/plain; charset=utf-8", "no such file\n"},
		{"/.api/src-cli/..%2fx", "", 301, "", ""},
		// for who is signed in
		{"/.api/client-config", "", 401, "text/plain; charset=utf-8", "Unauthorized\n"},
		{"/-/check-username-taken/ann", "", 302, "", ""},
		{"/-/check-username-taken/ann", token, 200, "text/plain; charset=utf-8", "the name is taken\n"},
		{"/-/check-username-taken/bob", token, 404, "text/plain; charset=utf-8", "the name is free\n"},
	} {
		var header []string
		if tt.token != "" {
			header = []string{"Authorization", "token " + tt.token}
		}
		resp := s.ask(http.MethodGet, tt.path, "", header...)
		kind, body := resp.Header.Get("Content-Type"), bodyOf(t, resp)
		if resp.StatusCode != tt.status || tt.contentType != "" && (kind != tt.contentType || body != tt.body) {
			t.Errorf("%s: got %d %s %q, want %d %s %q", tt.path, resp.StatusCode, kind, body, tt.status, tt.contentType, tt.body)
		}
	}
	resp := s.ask(http.MethodGet, "/.api/src-cli/src_windows_arm64.exe", "")
	if to := resp.Header.Get("Location"); resp.StatusCode != 302 || !strings.HasSuffix(to, "/6.7.1104/src_windows_arm64.exe") {
		t.Errorf("src for a system: got %d to %q", resp.StatusCode, to)
	}
}

func TestClientConfig(t *testing.T) {
	s := newSite(t, nothing)
	_, token := s.user(t, identity.NewUser{Name: "ann"})
	resp := s.ask(http.MethodGet, "/.api/client-config", "", "Authorization", "token "+token)
	var got map[string]bool
	body := bodyOf(t, resp)
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != 200 || len(got) != 7 {
		t.Fatalf("got %d %s, %v; want seven booleans", resp.StatusCode, body, err)
	}
	for name, on := range got {
		if on {
			t.Errorf("%s is on", name)
		}
	}
	if !strings.HasPrefix(body, "{\n    \"codyEnabled\": false,\n") {
		t.Errorf("got %s, want it indented by four spaces", body)
	}
}

func TestOpenSearch(t *testing.T) {
	s := newSite(t, nothing)
	s.Gate.Anonymous = auth.AnonymousNo
	for external, want := range map[string]string{
		"":                             "http://localhost/search?q={searchTerms}",
		"https://example.org/a&b\"<x>": "https://example.org/a&b\"<x>/search?q={searchTerms}",
	} {
		s.ExternalURL = external
		resp := s.ask(http.MethodGet, "/opensearch.xml", "")
		var got struct {
			ShortName string
			URL       struct {
				Template string `xml:"template,attr"`
				Type     string `xml:"type,attr"`
			} `xml:"Url"`
		}
		err := xml.Unmarshal([]byte(bodyOf(t, resp)), &got)
		if err != nil || resp.StatusCode != 200 || got.URL.Template != want || got.URL.Type != "text/html" || !strings.HasPrefix(got.ShortName, "trawl") {
			t.Errorf("with %q: got %d %+v, %v; want %s", external, resp.StatusCode, got, err, want)
		}
	}
}
