package bench

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestClusterJudgesWhatIsLost: a node that lacks what was acknowledged, or has what was
// revoked, is told of; one without an answer may have either.
func TestClusterJudgesWhatIsLost(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.api/trawl/users":
			fmt.Fprint(w, `[{"name": "kept"}]`)
		case "/.api/trawl/repositories":
			fmt.Fprint(w, `[{"name": "a", "stars": 2}, {"name": "b", "stars": 2}, {"name": "c", "stars": 2}]`)
		default:
			if r.Header.Get("Authorization") == "token refused" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			found := 0
			if r.URL.Query().Get("q") == "there" {
				found = 1
			}
			fmt.Fprintf(w, "event: progress\ndata: {\"done\": true, \"matchCount\": %d}\n\nevent: done\ndata: {}\n\n", found)
		}
	}))
	defer server.Close()
	h := newClusterHistory()
	h.madeUser("kept", nil)
	h.madeUser("lost", nil)
	h.madeUser("unknown", errors.New("no answer"))
	for name, answers := range map[string][]error{"a": {nil, nil}, "b": {nil, nil, nil}, "c": {nil, io.EOF}} {
		for _, err := range answers {
			h.askStars(name)
			h.starred(name, err, false)
		}
	}
	h.found("there", nil)
	h.found("gone", nil)
	h.madeToken(&accessToken{ID: 1, Secret: "taken"}, nil)
	h.madeToken(&accessToken{ID: 2, Secret: "refused"}, nil)
	h.revokedToken(&accessToken{ID: 3, Secret: "taken"}, nil)
	h.revokedToken(&accessToken{ID: 4, Secret: "refused"}, nil)
	n := &clusterNode{operatorClient: &operatorClient{client: newClient(), base: server.URL}}
	got, err := h.toJudge().compare(t.Context(), n, "taken")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"user lost was created and is not there",
		"b has 2 stars, acknowledged are 3, asked for last 3",
		"gone was synced and is not found",
		"token 2 was created and is refused",
		"token 3 was revoked and is taken",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if acknowledged, unsure := h.counts(); acknowledged != 14 || unsure != 2 {
		t.Errorf("%d acknowledged, %d unsure", acknowledged, unsure)
	}
}

// TestClusterStars: a change is not there without those that were acknowledged before
// it was asked for, and a repository whose last change had no answer is left alone
// until all is quiet.
func TestClusterStars(t *testing.T) {
	h := newClusterHistory()
	ask := func(name string, want int) {
		t.Helper()
		if got := h.askStars(name); got != want {
			t.Errorf("the next stars of %s are %d, want %d", name, got, want)
		}
	}
	ask("a", 1)
	ask("b", 1) // beside that of a
	h.starred("a", nil, false)
	h.starred("b", nil, false)
	ask("b", 2) // behind that of a
	for _, tt := range []struct {
		a, b int
		want string
	}{
		{0, 0, ""}, {1, 0, ""}, {0, 1, ""}, {1, 2, ""},
		{0, 2, "a has 0 stars, but 1 were acknowledged before the 2 of b were asked for"},
	} {
		if got := strings.Join(h.disorder(map[string]int{"a": tt.a, "b": tt.b}), ", "); got != tt.want {
			t.Errorf("%d of a and %d of b: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
	h.starred("b", io.EOF, false)
	ask("b", 0)
	ask("a", 2)
	h.starred("a", io.EOF, true)
	h.settle()
	ask("b", 3)
	ask("a", 0) // may be made at any time
}

// TestClusterDivided: the work is divided once live nodes have all of it.
func TestClusterDivided(t *testing.T) {
	type node = struct {
		Address string   `json:"address"`
		Live    bool     `json:"live"`
		Parts   int      `json:"parts"`
		Tasks   []string `json:"tasks"`
	}
	all := []string{"merge", "backup", "housekeeping"}
	for _, tt := range []struct {
		name  string
		nodes []node
		want  bool
	}{
		{"two", []node{{"", true, 30, all[:1]}, {"", true, 34, all[1:]}}, true},
		{"a dead node holds some", []node{{"", true, 30, all}, {"", false, 34, nil}, {"", true, 0, nil}}, false},
		{"a dead node is left over", []node{{"", true, 30, all}, {"", false, 0, nil}, {"", true, 34, nil}}, true},
		{"a task is nobody's", []node{{"", true, 30, all[:2]}, {"", true, 34, nil}}, false},
		{"one only", []node{{"", true, 64, all}}, false},
	} {
		if got := (clusterStatus{Nodes: tt.nodes}).divided(2); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestClusterDatabaseAddress(t *testing.T) {
	for _, tt := range []struct{ address, network, server, through string }{
		{"postgres://ann:x@db.example.org/trawl?sslmode=require", "tcp", "db.example.org:5432", "postgres://ann:x@ADDR/trawl?sslmode=require"},
		{"postgres://ann@db.example.org:6000/trawl", "tcp", "db.example.org:6000", "postgres://ann@ADDR/trawl"},
		{"postgres://ann@/trawl?host=/run/pg", "unix", "/run/pg/.s.PGSQL.5432", "postgres://ann@ADDR/trawl?sslmode=disable"},
	} {
		d, err := thereDatabase(tt.address)
		if err != nil {
			t.Fatal(err)
		}
		through := d.through("ADDR")
		if d.network != tt.network || d.server != tt.server || through != tt.through {
			t.Errorf("%s: got %s %s %s", tt.address, d.network, d.server, through)
		}
	}
	if _, err := thereDatabase("mysql://x"); err == nil {
		t.Error("mysql://x is taken")
	}
}

// All faults that are drawn have a name that can be asked for, and those that were not
// asked for are not drawn.
func TestClusterDrawsKinds(t *testing.T) {
	r := &clusterRun{rng: rand.New(rand.NewPCG(1, 2)), nodes: []*clusterNode{{}}}
	drawn := map[string]bool{}
	for range 2000 {
		drawn[r.draw(nil).name] = true
	}
	for _, name := range drawnNames {
		if !drawn[name] {
			t.Errorf("%q is not drawn", name)
		}
	}
	if len(drawn) != len(drawnNames) {
		t.Errorf("%d names are drawn: %v", len(drawn), drawn)
	}
	r.Kinds = []string{faultPaused, faultSilent}
	for range 100 {
		if f := r.draw(nil); !slices.Contains(r.Kinds, f.name) {
			t.Errorf("%q is drawn", f.name)
		}
	}
}
