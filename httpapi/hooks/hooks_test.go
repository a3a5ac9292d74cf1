package hooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi/hooks"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/internal/clock"
)

const secret = "S3cr3tOfTheHook"

// receiver has one service, 3, and notes what it is told.
type receiver struct {
	config *hosts.Config
	told   []string
}

func (r *receiver) HookConfig(service uint32) *hosts.Config {
	if service != 3 {
		return nil
	}
	return r.config
}

func (r *receiver) Hooked(service uint32, hook codehost.Hook) {
	r.told = append(r.told, strings.TrimSpace(fmt.Sprintln(service, hook.Repositories, hook.Names, hook.Listing)))
}

// world is an endpoint as its route has it.
type world struct {
	*testing.T
	receiver
	clock   *clock.Clock
	handler http.Handler
}

func newWorld(t *testing.T) *world { return newWorldOf(t, "GITHUB", `"orgs": ["acme"]`) }

func newWorldOf(t *testing.T, kind, rest string) *world {
	t.Helper()
	c, err := hosts.ParseConfig(kind, `{"url": "https://host.example.org", "token": "x", `+rest+`, "webhooks": [{"org": "other", "secret": "another-one"}, {"secret": "`+secret+`"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, receiver: receiver{config: c}, clock: clock.New(time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))}
	e := &hooks.Endpoint{Receiver: func() hooks.Receiver { return w }, Now: w.clock.Now}
	router := mux.NewRouter()
	for _, route := range e.Routes() {
		router.Path(route.Path).Methods(route.Method).HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if err := route.Handler(rw, r); err != nil {
				http.Error(rw, err.Error(), http.StatusTeapot)
			}
		})
	}
	w.handler = router
	return w
}

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// send sends a webhook, and returns the answer.
func (w *world) send(service, body string, headers ...string) string {
	w.Helper()
	r := httptest.NewRequest("POST", "/.api/webhooks/"+service, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, r)
	return strings.TrimSpace(out.Body.String())
}

func (w *world) github(event, body string) string {
	return w.send("3", body, "X-GitHub-Event", event, "X-Hub-Signature-256", sign(secret, body))
}

const push = `{"ref": "refs/heads/main", "after": "%s", "repository": {"id": 7, "full_name": "acme/kiln"}}`

func (w *world) expect(want ...string) {
	w.Helper()
	if !slices.Equal(w.told, want) {
		w.Errorf("told %q, want %q", w.told, want)
	}
	w.told = nil
}

func TestGitHub(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct{ event, body, want string }{
		{"push", fmt.Sprintf(push, "a1"), "3 [7] [] false"},
		{"create", `{"ref": "x", "ref_type": "branch", "repository": {"id": 8}}`, "3 [8] [] false"},
		{"delete", `{"ref": "x", "ref_type": "branch", "repository": {"id": 9}}`, "3 [9] [] false"},
		{"repository", `{"action": "renamed", "repository": {"id": 7}}`, "3 [] [] true"},
		{"public", `{"repository": {"id": 7}}`, "3 [] [] true"},
		{"ping", `{"zen": "x", "hook_id": 1}`, "3 [] [] false"},
	} {
		if got := w.github(tt.event, tt.body); got != `{"accepted":true}` {
			t.Errorf("%s: %s", tt.event, got)
		}
		w.expect(tt.want)
	}
}

func TestGitLab(t *testing.T) {
	w := newWorldOf(t, "GITLAB", `"groups": ["acme"]`)
	for _, tt := range []struct{ event, body, want string }{
		{"Push Hook", `{"object_kind": "push", "ref": "refs/heads/main", "after": "a1", "project_id": 7}`, "3 [7] [] false"},
		{"Tag Push Hook", `{"object_kind": "tag_push", "ref": "refs/tags/v1", "after": "a1", "project_id": 8}`, "3 [8] [] false"},
		{"System Hook", `{"event_name": "push", "after": "a1", "project_id": 9}`, "3 [9] [] false"},
		{"System Hook", `{"event_name": "repository_update", "project_id": 9}`, "3 [9] [] false"},
		{"System Hook", `{"event_name": "project_rename", "project_id": 9}`, "3 [] [] true"},
		{"System Hook", `{"event_name": "gitlab_subscription_member_approval"}`, "3 [] [] false"},
		{"Project Hook", `{"event_name": "project_create", "project_id": 9}`, "3 [] [] true"},
		{"Note Hook", `{"object_kind": "note"}`, "3 [] [] false"},
	} {
		if got := w.send("3", tt.body, "X-Gitlab-Event", tt.event, "X-Gitlab-Token", secret); got != `{"accepted":true}` {
			t.Errorf("%s: %s", tt.event, got)
		}
		w.expect(tt.want)
	}
	body := `{"object_kind": "push", "project_id": 7}`
	for _, given := range []string{"", "wrong", secret + "x", secret[:8], sign(secret, body)} {
		if got := w.send("3", body, "X-Gitlab-Event", "Push Hook", "X-Gitlab-Token", given); !strings.Contains(got, "no such service") {
			t.Errorf("token %q: %s", given, got)
		}
	}
	for _, body := range []string{"", "{", "[]", "null", `{"object_kind": "push", "project_id": -1}`, `{"object_kind": "push", "project_id": "x"}`, strings.Repeat("[", 100_000)} {
		if got := w.send("3", body, "X-Gitlab-Event", "Push Hook", "X-Gitlab-Token", secret); strings.Contains(got, "accepted") {
			t.Errorf("%.20s: %s", body, got)
		}
	}
	w.expect()
}

func TestGitea(t *testing.T) {
	w := newWorldOf(t, "GITEA", `"orgs": ["acme"]`)
	send := func(event, body, by string) string {
		return w.send("3", body, "X-Gitea-Event", event, "X-Gitea-Signature", strings.TrimPrefix(sign(by, body), "sha256="))
	}
	for _, tt := range []struct{ event, body, want string }{
		{"push", fmt.Sprintf(push, "a1"), "3 [7] [] false"},
		{"create", `{"ref": "x", "ref_type": "branch", "repository": {"id": 8}}`, "3 [8] [] false"},
		{"delete", `{"ref": "x", "ref_type": "branch", "repository": {"id": 9}}`, "3 [9] [] false"},
		{"repository", `{"action": "created", "repository": {"id": 7}}`, "3 [] [] true"},
		{"issues", `{"action": "opened"}`, "3 [] [] false"},
	} {
		if got := send(tt.event, tt.body, secret); got != `{"accepted":true}` {
			t.Errorf("%s: %s", tt.event, got)
		}
		w.expect(tt.want)
	}
	body := fmt.Sprintf(push, "a2")
	if got := w.send("3", body, "X-Forgejo-Event", "push", "X-Forgejo-Signature", strings.TrimPrefix(sign(secret, body), "sha256=")); got != `{"accepted":true}` {
		t.Errorf("Forgejo: %s", got)
	}
	w.expect("3 [7] [] false")
	if got := send("push", body, "wrong"); !strings.Contains(got, "no such service") {
		t.Errorf("another secret: %s", got)
	}
	for _, body := range []string{"", "{", "[]", "null", `{"repository": {"id": -1}}`, `{"repository": {"id": "x"}}`, strings.Repeat("[", 100_000)} {
		if got := send("push", body, secret); strings.Contains(got, "accepted") {
			t.Errorf("%.20s: %s", body, got)
		}
	}
	w.expect()
}

func TestBitbucket(t *testing.T) {
	for _, tt := range []struct {
		kind, rest, push, want, listing string
	}{
		{"BITBUCKETCLOUD", `"apiURL": "https://host.example.org/2.0", "teams": ["acme"]`, "repo:push", "3 [{uuid-7}] [] false", "repo:updated"},
		{"BITBUCKETSERVER", `"projectKeys": ["ACME"]`, "repo:refs_changed", "3 [7] [] false", "repo:modified"},
	} {
		w := newWorldOf(t, tt.kind, tt.rest)
		send := func(event, body, by string) string {
			return w.send("3", body, "X-Event-Key", event, "X-Hub-Signature", sign(by, body))
		}
		for event, want := range map[string]string{tt.push: tt.want, tt.listing: "3 [] [] true", "pullrequest:created": "3 [] [] false"} {
			if got := send(event, `{"repository": {"uuid": "{uuid-7}", "id": 7}, "event": "`+event+`"}`, secret); got != `{"accepted":true}` {
				t.Errorf("%s, %s: %s", tt.kind, event, got)
			}
			w.expect(want)
		}
		body := `{"repository": {"uuid": "{uuid-7}", "id": 7}}`
		for _, got := range []string{send(tt.push, body, "wrong"), w.send("3", body, "X-Event-Key", tt.push, "X-Hub-Signature", strings.TrimPrefix(sign(secret, body), "sha256="))} {
			if !strings.Contains(got, "no such service") {
				t.Errorf("%s, not signed: %s", tt.kind, got)
			}
		}
		for _, body := range []string{"", "{", "[]", "null", `{"repository": {"id": -1, "uuid": ""}}`, `{"repository": 5}`, strings.Repeat("[", 100_000)} {
			if got := send(tt.push, body, secret); strings.Contains(got, "accepted") {
				t.Errorf("%s, %.20s: %s", tt.kind, body, got)
			}
		}
		w.expect()
	}
}

// The same body is acted on once; after a while it may be another.
func TestReplay(t *testing.T) {
	w := newWorld(t)
	body := fmt.Sprintf(push, "a1")
	w.github("push", body)
	for range 100 {
		if got := w.github("push", body); got != `{"accepted":false}` {
			t.Fatalf("again: %s", got)
		}
	}
	w.github("push", fmt.Sprintf(push, "a2"))
	w.expect("3 [7] [] false", "3 [7] [] false")
	w.clock.Add(11 * time.Minute)
	w.github("push", body)
	w.expect("3 [7] [] false")
	for i := range 10_000 {
		w.github("ping", fmt.Sprint(`{"hook_id": `, i, `}`))
	}
}

// What no secret has signed gets one answer, and nothing is done.
func TestUnsigned(t *testing.T) {
	w := newWorld(t)
	body := fmt.Sprintf(push, "a1")
	right := sign(secret, body)
	var answers []string
	for _, headers := range [][]string{
		nil,
		{"X-GitHub-Event", "push"},
		{"X-GitHub-Event", "push", "X-Hub-Signature-256", sign("wrong", body)},
		{"X-GitHub-Event", "push", "X-Hub-Signature-256", sign("", body)},
		{"X-GitHub-Event", "push", "X-Hub-Signature-256", right[:len(right)-2]},
		{"X-GitHub-Event", "push", "X-Hub-Signature-256", right + "00"},
		{"X-GitHub-Event", "push", "X-Hub-Signature-256", "sha256="},
		{"X-GitHub-Event", "push", "X-Hub-Signature", right},
		{"X-GitHub-Event", "push", "X-Gitlab-Token", secret},
		{"X-Trawl-Signature-256", sign("wrong", body)},
	} {
		answers = append(answers, w.send("3", body, headers...))
	}
	answers = append(answers, w.send("4", body, "X-GitHub-Event", "push", "X-Hub-Signature-256", right), w.send("9999999999", body))
	if all := slices.Compact(answers); len(all) != 1 || !strings.Contains(all[0], "no such service") {
		t.Errorf("got %q, want one answer", all)
	}
	w.expect()
	for _, service := range []string{"x", "-1", "99999999999", "3/4"} {
		if got := w.send(service, body); strings.Contains(got, "accepted") {
			t.Errorf("%s: %s", service, got)
		}
	}
	for _, body := range []string{"", "{", "[]", "null", `{"repository": {"id": -1}}`, `{"repository": {"id": "x"}}`, strings.Repeat("[", 100_000)} {
		if got := w.github("push", body); strings.Contains(got, "accepted") {
			t.Errorf("%.20s: %s", body, got)
		}
	}
	if got := w.github("push", strings.Repeat(" ", 5<<20)); !strings.Contains(got, "longer than 4 MiB") {
		t.Errorf("a long body: %s", got)
	}
	w.expect()
}

// Any program can tell of a push, by the names that repositories have here.
func TestGeneric(t *testing.T) {
	w := newWorld(t)
	send := func(at time.Time, rest string) string {
		body := `{"time": "` + at.Format(time.RFC3339Nano) + `", ` + rest + `}`
		return w.send("3", body, "X-Trawl-Signature-256", sign(secret, body))
	}
	now := w.clock.Now()
	for i := range 2 {
		if got := send(now.Add(time.Duration(i)), `"repositories": ["github.com/acme/kiln", "x"]`); got != `{"accepted":true}` {
			t.Error(got)
		}
	}
	if got := send(now, `"listing": true`); got != `{"accepted":true}` {
		t.Error(got)
	}
	w.expect("3 [] [github.com/acme/kiln x] false", "3 [] [github.com/acme/kiln x] false", "3 [] [] true")
	for _, got := range []string{
		send(now.Add(-6*time.Minute), `"repositories": ["x"]`), send(now.Add(6*time.Minute), `"repositories": ["x"]`), send(now, `"repositories": []`),
		send(now, `"repositories": ["x"`+strings.Repeat(`, "x"`, 100)+`]`),
	} {
		if !strings.Contains(got, "none that the documentation describes") {
			t.Error(got)
		}
	}
	w.expect()
}
