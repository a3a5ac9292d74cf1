package graphql_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// get asks as a user, "" being anonymous.
func (w *world) get(path, as string) (*http.Response, string) {
	w.Helper()
	return w.Send(http.MethodGet, path, "", w.As(as)...)
}

// createJob queues a job as a user.
func (w *world) createJob(as, query string) {
	w.Helper()
	var created struct{ CreateSearchJob struct{ ID string } }
	w.data(&created, `mutation($q: String!) { createSearchJob(query: $q) { id } }`, map[string]any{"q": query},
		"Authorization", "token "+w.Tokens[as])
}

// runJobs runs what is queued.
func (w *world) runJobs() {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.runner.Run(ctx)
	}()
	for {
		all, err := w.book.Jobs.All()
		if err != nil {
			w.Fatal(err)
		}
		left := false
		for _, j := range all {
			left = left || !j.State.Final()
		}
		if !left {
			break
		}
	}
	cancel()
	<-ended
}

func TestSearchJob(t *testing.T) {
	w := newWorld(t)
	w.createJob("ann", "glaze fork:yes archived:yes")
	w.createJob("bob", "glaze fork:yes archived:yes")
	w.createJob("ann", "context:mine x")
	if resp, _ := w.get("/.api/search/export/1.jsonl", "ann"); resp.StatusCode != 404 {
		t.Errorf("before it is over: got %d, want 404", resp.StatusCode)
	}
	w.runJobs()
	var answer struct {
		SearchJobs struct {
			Nodes []struct {
				State     string
				URL       string
				RepoStats struct{ Total, Completed, Failed, InProgress int }
			}
		}
	}
	w.data(&answer, `{ searchJobs { nodes { state URL repoStats { total completed failed inProgress } } } }`, nil, "Authorization", "token "+w.Tokens["root"])
	got, err := json.Marshal(answer.SearchJobs.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"State":"COMPLETED","URL":"https://trawl.example.org/.api/search/export/1.jsonl","RepoStats":{"Total":5,"Completed":3,"Failed":2,"InProgress":0}},` +
		`{"State":"COMPLETED","URL":"https://trawl.example.org/.api/search/export/2.jsonl","RepoStats":{"Total":4,"Completed":2,"Failed":2,"InProgress":0}},` +
		`{"State":"COMPLETED","URL":"https://trawl.example.org/.api/search/export/3.jsonl","RepoStats":{"Total":5,"Completed":0,"Failed":5,"InProgress":0}}]`
	if string(got) != want {
		t.Errorf("jobs\n got %s\nwant %s", got, want)
	}

	// Results are what the creator may see, one a line, as the stream has them.
	for as, want := range map[string]string{"ann": "lab/kiln docs/deep/er/notes.txt, lab/kiln main.go, lab/glaze a.c, lab/glaze", "bob": "lab/kiln docs/deep/er/notes.txt, lab/kiln main.go"} {
		resp, body := w.get(map[string]string{"ann": "/.api/search/export/1.jsonl", "bob": "/.api/search/export/2.jsonl"}[as], as)
		if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != "application/jsonlines" {
			t.Errorf("results of %s: got %d, %s", as, resp.StatusCode, ct)
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Disposition"), `attachment; filename="search-jobs_`) {
			t.Errorf("results of %s: headers %v", as, resp.Header)
		}
		var found []string
		for line := range strings.Lines(body) {
			var m struct {
				Repository, Path string
				ChunkMatches     []struct{ Ranges []any }
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			found = append(found, strings.TrimSpace(m.Repository+" "+m.Path))
		}
		if !sameSet(found, strings.Split(want, ", ")) {
			t.Errorf("results of %s: got %s, want %s", as, strings.Join(found, ", "), want)
		}
	}

	// Others do not get them, site admins do.
	for _, tt := range []struct {
		path, as string
		status   int
	}{
		{"1.jsonl", "bob", 403}, {"1.jsonl", "", 403}, {"1.log", "bob", 403}, {"1.jsonl", "root", 200}, {"1.log", "root", 200},
		{"9.jsonl", "ann", 404}, {"x.jsonl", "ann", 400}, {"1.txt", "ann", 400}, {"1", "ann", 400}, {"-1.jsonl", "ann", 400},
	} {
		if resp, body := w.get("/.api/search/export/"+tt.path, tt.as); resp.StatusCode != tt.status {
			t.Errorf("%s as %q: got %d %s, want %d", tt.path, tt.as, resp.StatusCode, body, tt.status)
		}
	}
	_, log := w.get("/.api/search/export/1.log", "ann")
	for _, want := range []string{"repository,started_at,finished_at,matches,failure\n", "lab/kiln,2096-03-04T05:06:07Z,2096-03-04T05:06:07Z,4,\n",
		"lab/away,2096-03-04T05:06:07Z,2096-03-04T05:06:07Z,0,not readable at its source\n", ",still being fetched\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("log lacks %q:\n%s", want, log)
		}
	}
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// interrupted is a searcher that ends the process, so to say, in the middle of
// its nth search, when it has sent what it found.
type interrupted struct {
	*search.Searcher
	left int
	end  context.CancelFunc
}

func (s *interrupted) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	out := s.Searcher.Search(ctx, q, o, sink)
	if s.left--; s.left == 0 {
		s.end()
	}
	return out
}

// A job goes on where it was when the process ended, and finds each result
// once.
func TestSearchJobGoesOn(t *testing.T) {
	w := newWorld(t)
	w.createJob("ann", "e fork:yes archived:yes")
	w.createJob("ann", "e fork:yes archived:yes")
	results := func(id uint32) string {
		t.Helper()
		var b strings.Builder
		job, err := w.book.Jobs.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		for n := range job.Parts {
			part, err := w.book.Jobs.Part(id, n)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(part)
		}
		return b.String()
	}
	for n := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		w.runner.Searcher = &interrupted{w.searcher, n + 1, cancel}
		w.runner.Run(ctx)
		j, err := w.book.Jobs.Get(1)
		if err != nil {
			t.Fatal(err)
		}
		if j.State.Final() {
			break
		}
		if j.State != saved.JobRunning {
			t.Errorf("after interrupting: state %s", j.State)
		}
	}
	w.runner.Searcher = w.searcher
	w.runJobs()
	if got, want := results(1), results(2); got != want || got == "" {
		t.Errorf("interrupted\n%s\nuninterrupted\n%s", got, want)
	}
}

// A job sees what its creator may see when it gets there, not when it began.
func TestSearchJobSeesWhatItsCreatorMay(t *testing.T) {
	w := newWorld(t)
	w.createJob("ann", "e fork:yes archived:yes")
	once := true
	w.searching = func() {
		if !once {
			return
		}
		once = false
		if err := w.Registry.RemoveMember(identity.Operator, 1, 2); err != nil {
			t.Error(err)
		}
	}
	w.runner.Searcher = w
	w.runJobs()
	steps, err := w.book.Jobs.Steps(1)
	if err != nil || len(steps) < 2 {
		t.Fatalf("steps %v, %v", steps, err)
	}
	if steps[0].Failure != "" || steps[1].Repository != "" || steps[1].Failure != "the repository is not there any more" {
		t.Errorf("out of the organisation after the first repository: got %+v, %+v", steps[0], steps[1])
	}
}

// What one user keeps is bounded.
func TestJobsAndSavedSearchesAreFew(t *testing.T) {
	w := newWorld(t)
	w.createJob("ann", "glaze")
	if _, err := w.book.Jobs.Change(1, func(j *saved.Job) { j.Bytes = 9 << 30 }); err != nil {
		t.Fatal(err)
	}
	ann := []string{"Authorization", "token " + w.Tokens["ann"]}
	got := w.ask(`mutation { createSearchJob(query: "glaze") { id } }`, nil, ann...)
	if !strings.Contains(got, "your search jobs hold 9 GiB") {
		t.Errorf("a job beside 9 GiB: got %s", got)
	}
	owner := saved.Subject{Kind: saved.SubjectUser, ID: 2}
	for range 200 {
		if _, err := w.book.Searches.Add(saved.Search{Query: "glaze", Owner: owner}); err != nil {
			t.Fatal(err)
		}
	}
	keep := func(id string) string {
		return w.ask(`mutation { createSavedSearch(input: {owner: "`+id+`", description: "", query: "glaze"}) { id } }`, nil, ann...)
	}
	if got := keep("VXNlcjoy"); !strings.Contains(got, "there are 200 saved searches") {
		t.Errorf("one more search: got %s", got)
	}
	if got := keep("T3JnOjE="); strings.Contains(got, "errors") {
		t.Errorf("one of an organisation: got %s", got)
	}
}
