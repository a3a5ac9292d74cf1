package settings_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// hostsOf are the code hosts of a world, which remember what was asked of them.
type hostsOf struct {
	book    *saved.Book
	asked   []uint32
	preview manage.ServicePreview
	failure error
	// previewed is the configuration that a preview was made of.
	previewed string
}

func (h *hostsOf) SyncService(id uint32) { h.asked = append(h.asked, id) }

func (h *hostsOf) RemoveService(_ context.Context, id uint32) error {
	return h.book.Services.Remove(id)
}

func (h *hostsOf) PreviewService(_ context.Context, v *saved.Service) (manage.ServicePreview, error) {
	h.previewed, _ = h.book.Services.FullConfig(v)
	return h.preview, h.failure
}

const (
	servicesPage = "/site-admin/external-services"
	gitea        = `{"url": "https://git.example.org", "token": "t0ps3cret", "orgs": ["lab"]} /* of the lab */`
)

func gitHost(name, config string) url.Values {
	return url.Values{"kind": {"GITEA"}, "name": {name}, "config": {config}}
}

// A service is added, previewed, changed, asked and deleted, and its token is never shown.
func TestServices(t *testing.T) {
	w, root := newAdminWorld(t)
	hosts := w.hosts

	hosts.preview = manage.ServicePreview{Added: []string{"lab/kiln"}, Warnings: []string{"https://me:pw@git.example.org/<x> cannot be used"}}
	w.has("a preview", root.post(servicesPage+"/preview", gitHost("lab", gitea)), 200, "Added", "lab/kiln", "<x> cannot be used", "Nothing was changed", `value="lab"`)
	if !strings.Contains(hosts.previewed, "t0ps3cret") || len(hosts.asked) > 0 {
		t.Errorf("a preview of %q asked for %d", hosts.previewed, hosts.asked)
	}
	w.has("none yet", root.get(servicesPage), 200, "There is none.")

	for config, want := range map[string]string{
		`{"url": `: "is no JSON", `{"url": "https://x", "nothing": 1}`: "nothing", `{"url": "https://git.example.org", "token": "REDACTED"}`: "REDACTED",
	} {
		w.has(config, root.post(servicesPage, gitHost("lab", config)), 422, want, `value="lab"`)
	}
	w.has("no name", root.post(servicesPage, gitHost(" ", gitea)), 422, "the display name is empty")
	odd := gitHost("lab", gitea)
	odd.Set("kind", "PERFORCE")
	w.has("no such kind", root.post(servicesPage, odd), 422, "PERFORCE are not supported")

	w.has("added", root.follow(root.post(servicesPage, gitHost("lab", gitea))), 200, "It is there, and is asked in a moment", "https://git.example.org", "Gitea, Forgejo")
	page := root.get(servicesPage + "/1")
	w.has("its page", page, 200, `"token": "REDACTED"`, "/* of the lab */", "by <bdi>root</bdi>")
	if strings.Contains(page.text, "t0ps3cret") {
		t.Error("the page shows a token")
	}
	was := regexp.MustCompile(`name="was" value="(\w+)"`).FindStringSubmatch(page.text)[1]

	changed := url.Values{"was": {was}, "name": {"the lab"}, "config": {`{"url": "https://git.example.org", "token": "REDACTED", "users": ["bo"]}`}}
	w.has("a preview of a change", root.post(servicesPage+"/1/preview", changed), 200, "What it would do", `"users": ["bo"]`, `value="the lab"`)
	if !strings.Contains(hosts.previewed, "t0ps3cret") || !strings.Contains(hosts.previewed, `"bo"`) {
		t.Errorf("the preview was made of %q", hosts.previewed)
	}
	w.has("changed", root.follow(root.post(servicesPage+"/1", changed)), 200, "Saved", "the lab")
	if v, err := w.kept.Book.Services.Get(1); err != nil || v.DisplayName != "the lab" {
		t.Errorf("%+v, %v", v, err)
	} else if full, err := w.kept.Book.Services.FullConfig(v); err != nil || !strings.Contains(full, "t0ps3cret") || !strings.Contains(full, `"bo"`) {
		t.Errorf("the configuration is %q, %v", full, err)
	}
	w.has("over another state", root.post(servicesPage+"/1", changed), 422, "This was changed meanwhile", `"users": ["bo"]`)
	w.has("a preview over another state", root.post(servicesPage+"/1/preview", changed), 200, `name="was" value="`+was+`"`)

	hosts.failure = fmt.Errorf("https://me:pw@git.example.org: %w", errors.New("refused"))
	failed := root.post(servicesPage+"/1/preview", url.Values{"name": {"x"}, "config": changed["config"]})
	w.has("a host that is away", failed, 422, "refused")
	if strings.Contains(failed.text, "me:pw") {
		t.Error("the page shows a password")
	}

	w.has("asked", root.follow(root.post(servicesPage+"/1/sync", nil)), 200, "It is asked in a moment")
	if !slices.Equal(hosts.asked, []uint32{1, 1, 1}) {
		t.Errorf("the services %d were asked, want the first once more for each change", hosts.asked)
	}
	w.has("deleted", root.follow(root.post(servicesPage+"/1/remove", nil)), 200, "It is deleted", "There is none.")
	w.has("no more", root.get(servicesPage+"/1"), 404, "there is no such external service")
	w.has("never", root.post(servicesPage+"/7/sync", nil), 404)
	audit := root.get("/site-admin/audit")
	w.has("the audit log", audit, 200, "service.add", "service.update", "service.delete")
}

// A service of the configuration file is shown, and changed there.
func TestDeclaredServices(t *testing.T) {
	w, root := newAdminWorld(t)
	if _, _, err := w.kept.Book.Services.Declare(saved.Service{Kind: "GITEA", Declared: "lab", DisplayName: `lab <img src=x onerror=alert(1)>`, Config: `{"url": "https://git.example.org", "orgs": ["lab"], "webhooks": [{"org": "lab", "secret": "h00k-of-the-laboratory"}]}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.kept.Book.Services.Change(1, func(v *saved.Service) error {
		v.LastError, v.Repositories = "https://me:pw@git.example.org: "+strings.Repeat("away ", 1000), []uint32{1, 2, 3}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	page := root.get(servicesPage + "/1")
	w.has("its page", page, 200, "The configuration file of the server has this service", "3 repositories", `"orgs": ["lab"]`, "<code>http://localhost/.api/")
	if strings.Contains(page.text, "me:pw") || strings.Contains(page.text, "h00k") || strings.Contains(page.text, "<textarea") || len(page.text) > 20_000 {
		t.Errorf("the page is %s", page.text)
	}
	w.has("in the list", root.get(servicesPage+"?q=LAB"), 200, "in the configuration file", "1 found")
	w.has("not in the list", root.get(servicesPage+"?q=nothing"), 200, "There is none like that.")
	w.has("a change", root.post(servicesPage+"/1", gitHost("x", gitea)), 422, "declared in the configuration file")
	w.has("a deletion", root.post(servicesPage+"/1/remove", nil), 422, "declared in the configuration file")
	w.has("a preview", root.post(servicesPage+"/1/preview", nil), 200, "What it would do", "Nothing would change.")

	w.SignUp(identity.NewUser{Name: "bo"})
	bo := w.as("bo")
	for _, path := range []string{servicesPage, servicesPage + "/1"} {
		w.has("for another user", bo.get(path), 403)
	}
	w.has("for another user", bo.post(servicesPage, gitHost("x", gitea)), 403)
	w.hosts = nil
	w.has("before all is open", root.get(servicesPage), 503)
}

// Each kind of code host has an example, which is taken as it is.
func TestServiceExamples(t *testing.T) {
	_, root := newAdminWorld(t)
	page := root.get(servicesPage).text
	kinds := regexp.MustCompile(`<option value="(\w+)"[^>]*>([^<]+)</option>`).FindAllStringSubmatch(page, -1)
	var there []string
	for _, k := range kinds {
		there = append(there, k[1])
		m := regexp.MustCompile(`(?s)<summary>` + regexp.QuoteMeta(k[2]) + `</summary>\s*<pre[^>]*>(.*?)</pre>`).FindStringSubmatch(page)
		if m == nil {
			t.Errorf("%s has no example", k[1])
			continue
		}
		if _, err := hosts.ParseConfig(k[1], m[1]); err != nil {
			t.Errorf("the example for %s is not taken: %v", k[1], err)
		}
	}
	slices.Sort(there)
	if want := append(hosts.Kinds(), hosts.KindOther); !slices.Equal(there, slices.Sorted(slices.Values(want))) {
		t.Errorf("the kinds are %q, want %q", there, want)
	}
}
