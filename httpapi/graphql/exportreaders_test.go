package graphql_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// An export shows what its reader may see when it is read, not what the job could
// see when it ran.
func TestExportFollowsReaders(t *testing.T) {
	w := newWorld(t)
	w.createJob("ann", "glaze fork:yes archived:yes")
	w.runJobs()
	check := func(what, as string, leftOut, log string, has, hasNot []string) {
		t.Helper()
		resp, body := w.get("/.api/search/export/1.jsonl", as)
		_, rows := w.get("/.api/search/export/1.log", as)
		if got := resp.Header.Get("X-Trawl-Left-Out"); resp.StatusCode != 200 || got != leftOut || !strings.Contains(rows, log) {
			t.Errorf("%s: %d, left out %q, want %q, and a log with %q:\n%s", what, resp.StatusCode, got, leftOut, log, rows)
		}
		for _, name := range has {
			if !strings.Contains(body, `"repository":"`+name) || !strings.Contains(rows, name) {
				t.Errorf("%s: no %s in\n%s\n%s", what, name, body, rows)
			}
		}
		for _, name := range hasNot {
			if strings.Contains(body+rows, name) {
				t.Errorf("%s: %s shows in\n%s\n%s", what, name, body, rows)
			}
		}
	}
	operator := identity.Operator
	readers := func(repository string, texts ...string) {
		t.Helper()
		if _, err := w.Registry.SetReaders(operator, repository, texts); err != nil {
			t.Fatal(err)
		}
	}
	check("as it ran", "ann", "0", "", []string{"lab/kiln", "lab/glaze"}, []string{"left out"})
	if err := w.Registry.RemoveMember(operator, 1, 2); err != nil {
		t.Fatal(err)
	}
	check("out of the organisation", "ann", "1", "left out: 1 of the repositories", []string{"lab/kiln"}, []string{"lab/glaze"})
	check("for a site admin", "root", "0", "", []string{"lab/kiln", "lab/glaze"}, []string{"left out"})
	readers("lab/kiln", "user:bob")
	check("hidden", "ann", "2", "left out: 2 of the repositories", nil, []string{"lab/glaze", "lab/kiln"})
	readers("lab/kiln", "everyone")
	check("shown again", "ann", "1", "left out: 1 of the repositories", []string{"lab/kiln"}, []string{"lab/glaze"})
	readers("lab/kiln", "user:bob")
	if err := w.Indexer.Remove(t.Context(), "lab/kiln"); err != nil {
		t.Fatal(err)
	}
	check("gone, and hidden when it went", "ann", "2", "", nil, []string{"lab/glaze", "lab/kiln"})
	check("gone, for a site admin", "root", "0", "", []string{"lab/kiln"}, nil)
}

// What an earlier version found is served to a client who may see all of it, and
// else not at all: it is not known which part is of which repository.
func TestExportOfAnEarlierVersion(t *testing.T) {
	w := newWorld(t)
	w.createJob("ann", "glaze fork:yes archived:yes")
	w.runJobs()
	steps, err := w.book.Jobs.Steps(1)
	if err != nil {
		t.Fatal(err)
	}
	var old store.Records
	for n, s := range steps {
		old.Put(store.RecordJobStep, []byte{0, 0, 0, 1, 0, 0, 0, byte(n)}, []byte(`{"repository":"`+s.Repository+`"}`))
	}
	if err := w.Store.CommitRecords(&old); err != nil {
		t.Fatal(err)
	}
	if resp, body := w.get("/.api/search/export/1.jsonl", "ann"); resp.StatusCode != 200 || !strings.Contains(body, "lab/glaze") || !strings.Contains(body, "lab/kiln") {
		t.Errorf("all to be seen: got %d %s", resp.StatusCode, body)
	}
	if err := w.Registry.RemoveMember(identity.Operator, 1, 2); err != nil {
		t.Fatal(err)
	}
	if resp, body := w.get("/.api/search/export/1.jsonl", "ann"); resp.StatusCode != 409 || !strings.Contains(body, "run the search again") {
		t.Errorf("some of it hidden: got %d %s", resp.StatusCode, body)
	}
}

// An export that is being sent ends with its token, and with what it may see.
func TestExportEndsWithItsToken(t *testing.T) {
	for name, end := range map[string]func(w *world) error{
		"token":   func(w *world) error { return w.Registry.RevokeTokenText(identity.Operator, w.Tokens["ann"]) },
		"readers": func(w *world) error { return w.Registry.RemoveMember(identity.Operator, 1, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			const size = 32 << 20 // more than the system holds for a client that does not read
			w := newWorld(t)
			w.createJob("ann", "glaze")
			_, err := w.book.Jobs.Change(1, func(j *saved.Job) { j.Repositories = []uint32{1} })
			if err == nil {
				_, err = w.book.Jobs.AddResults(1, make([]byte, size), &saved.JobStep{Repository: "lab/kiln"})
			}
			if err == nil {
				_, err = w.book.Jobs.Change(1, func(j *saved.Job) { j.State = saved.JobCompleted })
			}
			if err != nil {
				t.Fatal(err)
			}
			req, err := http.NewRequestWithContext(t.Context(), "GET", w.URL+"/.api/search/export/1.jsonl", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "token "+w.Tokens["ann"])
			resp, err := w.Client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			ended := time.Now()
			n, err := io.Copy(io.Discard, resp.Body)
			if took := time.Since(ended); err == nil || n >= size || took > 30*time.Second {
				t.Errorf("%d bytes and %v came %v later, want fewer and an error within 30 s", n, err, took)
			}
		})
	}
}
