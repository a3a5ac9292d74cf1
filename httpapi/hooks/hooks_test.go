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

func newWorld(t *testing.T) *world {
	t.Helper()
	c, err := hosts.ParseConfig("GITHUB", `{"url": "https://github.com", "orgs": ["acme"], "webhooks": [{"org": "other", "secret": "another-one"}, {"secret": "`+secret+`"}]}`)
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
