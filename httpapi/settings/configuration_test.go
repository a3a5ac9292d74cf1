package settings_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// site is a configuration with a setting of each kind; what is written is kept as it is.
type site struct {
	id      uint32
	written []string
	author  uint32
}

func (s *site) Configuration() manage.SiteConfiguration {
	return manage.SiteConfiguration{ID: s.id, Problems: []string{"the file says <b>no"}, Settings: []manage.SiteSetting{
		{Name: "max-timeout", About: "the longest", Value: "1m", Default: "1m", Live: true},
		{Name: "slow-query", About: "log \"slow\" ones", Value: `7s"><b>`, Default: "5s", Live: true, BySite: true},
		{Name: "mcp", Value: "false", Default: "true", Live: true, Where: "/etc/<trawl>.yaml:3"},
		{Name: "memory", Value: "1GiB", Where: "TRAWL_MEMORY"},
		{Name: "graphQLMaxDepth", Value: "30", Default: "30", Live: true, Limit: true},
	}}
}

func (s *site) Change(author, last uint32, contents string) ([]string, error) {
	if last != s.id {
		return nil, saved.ErrConflict
	}
	if strings.Contains(contents, "soon") {
		return nil, manage.RefuseSite(&identity.RuleError{Text: `max-timeout: "soon" is no length of time`})
	}
	s.id++
	s.author, s.written = author, append(s.written, contents)
	return []string{"max-timeout: 1m -> 30s"}, nil
}

func TestConfiguration(t *testing.T) {
	w, root := newAdminWorld(t)
	page := root.get("/site-admin/configuration")
	w.has("configuration", page, 200, `name="max-timeout"`, `name="graphQLMaxDepth"`, "the file says <b>no", "TRAWL_MEMORY", `placeholder="5s"`, "/etc/<trawl>.yaml:3")
	w.hasNot("configuration", page, `name="mcp"`, `name="memory"`)
	if strings.Count(page.text, "disabled") != 1 {
		t.Errorf("the page should have one field that another place sets: %s", page.text)
	}

	// What is set elsewhere cannot be sent, and what is empty is the default.
	sent := root.post("/site-admin/configuration", url.Values{"last": {"0"}, "max-timeout": {" 30s "}, "slow-query": {""}, "graphQLMaxDepth": {"9"}, "nonsense": {"x"}})
	w.has("saved", root.follow(sent), 200, "Saved, and in force.")
	if want := `{"max-timeout":"30s","rateLimits":{"graphQLMaxDepth":"9"}}`; len(w.site.written) != 1 || w.site.written[0] != want || w.site.author == 0 {
		t.Errorf("written by %d: %q, want %s", w.site.author, w.site.written, want)
	}
	w.logged("site.configure", "site", "root")

	// A mistake is told, and what was filled in is there to be mended.
	wrong := root.post("/site-admin/configuration", url.Values{"last": {"1"}, "max-timeout": {"soon"}, "slow-query": {"9s"}})
	w.has("mistake", wrong, 422, "no length of time", `value="soon"`, `value="9s"`, `name="last" value="1"`)
	old := root.post("/site-admin/configuration", url.Values{"last": {"0"}, "max-timeout": {"2s"}})
	w.has("old", old, 422, "changed by another user meanwhile", `value="2s"`)
	w.has("no form", root.post("/site-admin/configuration", url.Values{"max-timeout": {"2s"}}), 422, "open it again")
	if len(w.site.written) != 1 {
		t.Errorf("written: %q", w.site.written)
	}

	w.SignUp(identity.NewUser{Name: "bob"})
	for _, b := range []*browser{w.as("bob"), w.as("")} {
		if got := b.get("/site-admin/configuration"); got.status == 200 {
			t.Errorf("others read it: %d", got.status)
		}
		if got := b.post("/site-admin/configuration", url.Values{"last": {"1"}, "max-timeout": {"2s"}}); got.status != 401 && got.status != 403 || len(w.site.written) != 1 {
			t.Errorf("others write it: %d", got.status)
		}
	}
}
