package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
)

// unzipped is the body of an answer, and whether it came compressed.
func unzipped(t *testing.T, resp *http.Response) (text string, zipped bool) {
	t.Helper()
	body := bodyOf(t, resp)
	if resp.Header.Get("Content-Encoding") == "" {
		return body, false
	}
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(whole), true
}

// Text leaves compressed for clients that take that, unless it is small or a range is asked
// for.
func TestAnswersAreCompressed(t *testing.T) {
	s := newServer(nothing)
	for path, n := range map[string]int{"/.api/large": 1000, "/.api/small": 100} {
		s.Extra = append(s.Extra, httpapi.Route{Method: "GET", Path: path, Handler: func(w http.ResponseWriter, r *http.Request) error {
			return httpapi.ServeJSON(w, r, strings.Repeat("clay", n))
		}})
	}
	handler := s.Handler()
	for _, c := range []struct {
		path, end string
		zipped    bool
	}{
		{"/search", "</html>\n", true},
		{"/search?q=clay", "</html>\n", true},
		{"/search/list?q=clay", "</html>\n", true},
		{"/help/api", "</html>\n", true},
		{"/.api/large", "clay\"\n", true},
		{"/.api/small", "clay\"\n", false},
	} {
		for _, h := range [][]string{{"Accept-Encoding", "gzip"}, {"Accept-Encoding", "gzip;q=0"}, {"Accept-Encoding", "gzip", "Range", "bytes=0-9"}} {
			resp := worldtest.Serve(handler, "GET", c.path, "", h...)
			text, zipped := unzipped(t, resp)
			if zipped != (c.zipped && len(h) == 2 && h[1] == "gzip") || !strings.HasSuffix(text, c.end) {
				t.Errorf("%s with %q: compressed %t, ends with %q", c.path, h, zipped, text[max(0, len(text)-20):])
			}
			if resp.StatusCode != 200 || !strings.Contains(strings.Join(resp.Header.Values("Vary"), ","), "Accept-Encoding") || zipped && resp.Header.Get("Content-Length") != "" {
				t.Errorf("%s with %q: %d %v", c.path, h, resp.StatusCode, resp.Header)
			}
		}
	}
}

// A page that shows the text of its address beside names that only its reader may see leaves as
// it is if another site may have led the browser of that reader there.
func TestLedReadersGetPlainPages(t *testing.T) {
	s := newSite(t, nothing)
	_, token := s.user(t, identity.NewUser{Name: "ann"})
	cookie := s.signIn(t, "ann").String()
	link := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, c := range []struct {
		name    string
		headers []string
		zipped  bool
	}{
		{"a link on another site", append([]string{"Cookie", cookie}, link...), false},
		{"a browser that does not say", []string{"Cookie", cookie}, false},
		{"another site, with a token that the browser keeps", append([]string{"Authorization", "token " + token}, link...), false},
		{"a link of this site", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, true},
		{"an address that was typed", []string{"Cookie", cookie, "Sec-Fetch-Site", "none"}, true},
		{"a program", []string{"Authorization", "token " + token}, true},
	} {
		for _, path := range []string{"/search?q=clay", "/search/list?q=clay"} {
			resp := s.ask("GET", path, "", append([]string{"Accept-Encoding", "gzip"}, c.headers...)...)
			if _, zipped := unzipped(t, resp); resp.StatusCode != 200 || zipped != c.zipped {
				t.Errorf("%s, %s: %d, compressed %t, want %t", c.name, path, resp.StatusCode, zipped, c.zipped)
			}
		}
	}
	for _, path := range []string{"/sign-in", "/password-reset?userID=1&code=x"} {
		if _, zipped := unzipped(t, s.ask("GET", path, "", "Accept-Encoding", "gzip", "Sec-Fetch-Site", "none")); zipped {
			t.Errorf("%s is compressed", path)
		}
	}
}

// Of more answers than there are compressors, some leave as they are.
func TestCompressorsAreBounded(t *testing.T) {
	s := newServer(nothing)
	s.Compressors = 1
	var inner *http.Response
	handler := http.Handler(nil)
	s.Extra = []httpapi.Route{{Method: "GET", Path: "/.api/two", Handler: func(w http.ResponseWriter, r *http.Request) error {
		body := httpapi.NewBody(w, r, 1<<20)
		defer body.Release()
		if r.URL.RawQuery == "" {
			inner = worldtest.Serve(handler, "GET", "/.api/two?x", "", "Accept-Encoding", "gzip")
		}
		if _, err := body.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			return err
		}
		return body.End()
	}}}
	handler = s.Handler()
	for range 2 { // the second time shows that it was given back
		outer := worldtest.Serve(handler, "GET", "/.api/two", "", "Accept-Encoding", "gzip")
		text, zipped := unzipped(t, outer)
		plain, also := unzipped(t, inner)
		if !zipped || also || len(text) != 1<<20 || text != plain {
			t.Errorf("compressed %t with %d bytes and, at the same time, %t with %d", zipped, len(text), also, len(plain))
		}
	}
}
