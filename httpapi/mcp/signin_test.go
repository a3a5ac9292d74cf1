package mcp_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	trawlmcp "github.com/trawlsearch/trawl/httpapi/mcp"
	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

const annPassword = "correct horse battery"

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// person is a browser in which a user signs in and lets apps in.
type person struct {
	*http.Client
	site string
	// asked is the page where the user was asked.
	asked string
}

func newPerson(t *testing.T, site, name string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{Client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, site: site}
	resp, err := p.Post(site+"/-/sign-in", "application/json", strings.NewReader(fmt.Sprintf(`{"email":%q,"password":%q}`, name, annPassword)))
	if err != nil {
		t.Fatal(err)
	}
	if text := readAll(t, resp); resp.StatusCode != http.StatusOK {
		t.Fatalf("sign in: %s %s", resp.Status, text)
	}
	return p
}

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// letIn opens the page where an app asks, and agrees.
func (p *person) letIn(t *testing.T, page string) *sdkauth.AuthorizationResult {
	t.Helper()
	resp, err := p.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	p.asked = readAll(t, resp)
	form := url.Values{"decision": {"allow"}}
	for _, m := range hiddenField.FindAllStringSubmatch(p.asked, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	req, err := http.NewRequest(http.MethodPost, p.site+oauth.AuthorizePath, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", p.site)
	if resp, err = p.Do(req); err != nil {
		t.Fatal(err)
	}
	at, err := resp.Location()
	if err != nil {
		t.Fatalf("%s: %s", resp.Status, readAll(t, resp))
	}
	_ = resp.Body.Close()
	q := at.Query()
	return &sdkauth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}
}

// TestAddressIsEnough: a client that knows only the address registers, sends its user to
// the page, and then searches and reads what that user may.
func TestAddressIsEnough(t *testing.T) {
	w := newWorld(t)
	book := kept.Open(w.Store, w.Registry, kept.Options{})
	gate := &auth.Gate{Registry: func() *identity.Registry { return w.Registry }, Anonymous: auth.AnonymousNo}
	site := &httpapi.Server{Searcher: w.searcher, Gate: gate, Log: zerolog.Nop(), Admission: httpapi.NewAdmission(2, 64<<20)}
	apps := &oauth.Server{Book: func() *kept.Book { return book }, Site: site, Registers: func() bool { return true }, Resources: trawlmcp.Paths()}
	gate.Bearers = apps
	endpoint := w.newEndpoint(w.endpoint.GraphQL)
	off := false
	endpoint.Off = func() bool { return off }
	t.Cleanup(endpoint.Close)
	site.Extra = append(endpoint.Routes(), apps.Routes()...)
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	ann, err := w.Registry.UserNamed("ann")
	if err == nil {
		err = w.Registry.SetPassword(t.Context(), identity.Operator, ann.ID, annPassword)
	}
	if err != nil {
		t.Fatal(err)
	}
	user := newPerson(t, server.URL, "ann")
	handler, err := sdkauth.NewAuthorizationCodeHandler(&sdkauth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &sdkauth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Some editor", RedirectURIs: []string{"http://127.0.0.1:33418/callback"}, TokenEndpointAuthMethod: "none",
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *sdkauth.AuthorizationArgs) (*sdkauth.AuthorizationResult, error) {
			return user.letIn(t, args.URL), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tests", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: server.URL + trawlmcp.PathAll, OAuthHandler: handler, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if !strings.Contains(user.asked, "Some editor") || !strings.Contains(user.asked, "nobody here knows it") {
		t.Errorf("the user was asked by %s", user.asked)
	}
	if text, failed := call(t, s, "keyword_search", map[string]any{"query": "hiddenGlaze"}); failed || !strings.Contains(text, "lab/secret") {
		t.Errorf("search: %s", text)
	}
	if text, failed := call(t, s, "read_file", map[string]any{"repository": "lab/kiln", "path": "main.go"}); failed || !strings.Contains(text, "heats the kiln") {
		t.Errorf("read: %s", text)
	}
	off = true
	if resp, text := w.rpc(t, server, w.Tokens["ann"], listTools); resp.StatusCode != http.StatusNotFound || text != "no route\n" {
		t.Errorf("switched off: %s %s", resp.Status, text)
	}
}
