package remote_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/cmd/trawl/loopback"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answering returns a client of a server that always answers the same, and
// what it was asked last.
func answering(status int, body string) (*remote.Client, *string) {
	asked := new(string)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		*asked = r.Method + " " + r.URL.String() + " " + r.Header.Get(auth.OperatorHeader) + " " + string(sent)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	return &remote.Client{Base: "http://trawl", Token: "kiln", HTTP: &http.Client{Transport: &loopback.Transport{Handler: h}}}, asked
}

func TestRequests(t *testing.T) {
	const path = admin.RepositoriesPath
	for _, c := range []struct {
		name, body, want string
		call             func(c *remote.Client) error
	}{
		{"list", "[]", "GET http://trawl" + path + " kiln ", func(c *remote.Client) error {
			_, err := remote.Get(t.Context(), c, admin.ListRepositories)
			return err
		}},
		{"add", "{}", "POST http://trawl" + path + ` kiln {"source":"a=/b"}`, func(c *remote.Client) error {
			_, err := remote.Call(t.Context(), c, admin.AddRepository, admin.Add{Source: "a=/b"})
			return err
		}},
		{"remove", "", "DELETE http://trawl" + path + "?name=a%2Fb+c kiln ", func(c *remote.Client) error {
			return remote.Do(t.Context(), c, admin.RemoveRepository, "name", "a/b c")
		}},
		{"change facts", "{}", "PATCH http://trawl" + path + `?name=a kiln {"stars":0,"metadata":{"old":null}}`, func(c *remote.Client) error {
			_, err := remote.Call(t.Context(), c, admin.ChangeFacts, admin.Facts{Stars: new(int), Metadata: map[string]*string{"old": nil}}, "name", "a")
			return err
		}},
		{"sync", `{"result":{}}`, "POST http://trawl" + path + "/sync?name=a kiln ", func(c *remote.Client) error {
			_, err := c.Sync(t.Context(), "a", nil)
			return err
		}},
		{"skipped", `{"result":{}}`, "GET http://trawl" + path + "/skipped?name=a kiln ", func(c *remote.Client) error {
			return c.Skipped(t.Context(), "a", func(admin.Skipped) error { return nil })
		}},
	} {
		client, asked := answering(http.StatusOK, c.body)
		if err := c.call(client); err != nil || *asked != c.want {
			t.Errorf("%s: asked %q, %v; want %q", c.name, *asked, err, c.want)
		}
	}
}

func TestSync(t *testing.T) {
	for _, c := range []struct {
		name, body string
		phases     string
		added      int
		err        string
	}{
		{"goes well", `{"progress":{"phase":"list"}}` + "\n" + `{"progress":{"phase":"index"}}` + "\n" + `{"result":{"added":3}}`, "list index ", 3, ""},
		{"fails", `{"progress":{"phase":"list"}}` + "\n" + `{"error":"no disk"}`, "list ", 0, "no disk"},
		{"is cut off between lines", `{"progress":{"phase":"list"}}` + "\n", "list ", 0, remote.ErrCutOff.Error()},
		{"is cut off in a line", `{"progress":{"ph`, "", 0, remote.ErrCutOff.Error()},
		{"is no JSON", `hello`, "", 0, "invalid character"},
		{"knows more than we do", `{"weather":"fine"}` + "\n" + `{"result":{}}`, "", 0, ""},
	} {
		client, _ := answering(http.StatusOK, c.body)
		phases := ""
		res, err := client.Sync(t.Context(), "x", func(p admin.Progress) { phases += p.Phase + " " })
		if phases != c.phases || res.Added != c.added || c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got phases %q, %d added, %v; want %q, %d, %q", c.name, phases, res.Added, err, c.phases, c.added, c.err)
		}
	}
}

func TestSkippedEndsWhenTheCallerHasEnough(t *testing.T) {
	client, _ := answering(http.StatusOK, strings.Repeat(`{"skipped":{"path":"a"}}`+"\n", 1000))
	enough := errors.New("enough")
	if err := client.Skipped(t.Context(), "x", func(admin.Skipped) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want %v", err, enough)
	}
}

func TestStatus(t *testing.T) {
	client, _ := answering(http.StatusNotFound, "repository: not found\n")
	if err := remote.Do(t.Context(), client, admin.RemoveRepository, "name", "x"); !remote.NotFound(err) || err.Error() != "repository: not found" {
		t.Errorf("got %v, want the server's text, and that it is NotFound", err)
	}
	client, _ = answering(http.StatusConflict, "already exists")
	if _, err := remote.Call(t.Context(), client, admin.AddRepository, admin.Add{Source: "x"}); err == nil || remote.NotFound(err) {
		t.Errorf("got %v, want an error that is not NotFound", err)
	}
}
