package settings_test

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/saved"
)

// change changes a search job as its runner does.
func (w *world) change(id uint32, change func(*saved.Job)) {
	w.Helper()
	if _, err := w.kept.Book.Jobs.Change(id, change); err != nil {
		w.Fatal(err)
	}
}

// found has a search job finish its next repository.
func (w *world) found(id uint32, results string, step saved.JobStep) {
	w.Helper()
	if _, err := w.kept.Book.Jobs.AddResults(id, []byte(results), &step); err != nil {
		w.Fatal(err)
	}
}

// A search job is begun, watched, cancelled and deleted.
func TestSearchJobs(t *testing.T) {
	w, _ := newSearchesWorld(t)
	ann := w.as("ann")
	var ended []uint32
	w.kept.Cancelled = func(id uint32) { ended = append(ended, id) }
	const hostile = `"<script>alert(1)</script>" patternType:keyword`

	w.has("empty", ann.get("/users/ann/jobs?query="+url.QueryEscape(hostile)), 200, "There are none yet.", hostile+"</textarea>")
	w.has("led to", ann.follow(ann.get("/user/jobs?query=x")), 200, "x</textarea>")
	w.has("begun", ann.follow(ann.post("/users/ann/jobs", url.Values{"query": {hostile}})), 200, "The search job begins", "<script>alert(1)</script>", "waiting", "0 of 0", "/users/ann/jobs/1/cancel")
	w.has("refused", ann.post("/users/ann/jobs", url.Values{"query": {"x count:all"}}), 422, "leave out count:", "x count:all</textarea>")
	w.has("refused", ann.post("/users/ann/jobs", url.Values{"query": {"lang:nosuch"}}), 422)

	w.change(1, func(j *saved.Job) { j.State, j.Repositories = saved.JobRunning, []uint32{1, 2, 3} })
	w.found(1, strings.Repeat("x", 2345), saved.JobStep{Matches: 17})
	w.found(1, "", saved.JobStep{Failure: "out of time"})
	w.has("running", ann.get("/users/ann/jobs/1"), 200, "searching", "2 of 3, 1 not whole", "2 KB", "one that is gone", "17", "out of time", `max="3" value="2"`)
	w.hasNot("running", ann.get("/users/ann/jobs/1"), ".jsonl")
	progress := ann.get("/users/ann/jobs/progress?id=1&id=99&id=x")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(progress.text), &rows); err != nil || len(rows) != 1 || rows[0]["state"] != "searching" || rows[0]["done"] != 2.0 || rows[0]["over"] != false {
		t.Errorf("progress: %d %s, %v", progress.status, progress.text, err)
	}

	w.has("cancelled", ann.follow(ann.post("/users/ann/jobs/1/cancel", nil)), 200, "What it found stays", "cancelled", "/.api/search/export/1.jsonl", "/.api/search/export/1.log")
	w.has("cancelled again", ann.follow(ann.post("/users/ann/jobs/1/cancel", nil)), 200, "cancelled")
	w.has("deleted", ann.follow(ann.post("/users/ann/jobs/1/delete", nil)), 200, "The search job is deleted.", "There are none yet.")
	w.has("deleted again", ann.post("/users/ann/jobs/1/delete", nil), 404)
	if len(ended) != 3 {
		t.Errorf("jobs %v were ended, want three times 1", ended)
	}
}

// Who may not see a search job cannot tell it from one that is missing, nobody begins
// one for another, and its log follows the readers of repositories.
func TestSearchJobsAreTheirOwners(t *testing.T) {
	w, _ := newSearchesWorld(t)
	ann, eve, root := w.as("ann"), w.as("eve"), w.as("root")
	ann.post("/users/ann/jobs", url.Values{"query": {"secret"}})
	for _, id := range []string{"1", "99", "x", "-1", "4294967297"} {
		for _, of := range []string{"/users/ann/jobs/", "/users/eve/jobs/"} {
			for _, got := range []answer{eve.get(of + id), eve.post(of+id+"/cancel", nil), eve.post(of+id+"/delete", nil)} {
				if got.status != 404 || strings.Contains(got.text, "secret") {
					t.Errorf("%s%s for eve: %d %s", of, id, got.status, got.text)
				}
			}
		}
	}
	if got := eve.get("/users/eve/jobs/progress?id=1"); got.text != "[]" {
		t.Errorf("progress for eve: %s", got.text)
	}
	if got := eve.get("/users/ann/jobs/progress?id=1"); got.status != 404 {
		t.Errorf("progress of ann for eve: %d", got.status)
	}
	w.has("for ann by root", root.post("/users/ann/jobs", url.Values{"query": {"x"}}), 404)
	w.has("seen by root", root.get("/users/ann/jobs"), 200, "secret")
	w.hasNot("seen by root", root.get("/users/ann/jobs"), "New search job")

	// The repository is gone by now, or hidden, which comes to the same.
	w.change(1, func(j *saved.Job) { j.State, j.Repositories = saved.JobRunning, []uint32{1} })
	w.found(1, "found", saved.JobStep{Repository: "lab/hidden", Matches: 1})
	w.change(1, func(j *saved.Job) { j.State = saved.JobCompleted })
	w.has("the log of ann", ann.get("/users/ann/jobs/1"), 200, "1 repository is left out")
	w.hasNot("the log of ann", ann.get("/users/ann/jobs/1"), "lab/hidden")
	w.has("the log for root", root.get("/users/ann/jobs/1"), 200, "lab/hidden")
}

// Lists of jobs and logs are shown page by page, and one user has so many jobs.
func TestSearchJobsAreBounded(t *testing.T) {
	w, _ := newSearchesWorld(t)
	u, err := w.Registry.UserNamed("ann")
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := w.kept.Book.Jobs.Add(strings.Repeat("é", 16<<10), u.ID); err != nil {
			t.Fatal(err)
		}
	}
	ann := w.as("ann")
	w.has("one more", ann.post("/users/ann/jobs", url.Values{"query": {"x"}}), 422, "you have 100 search jobs")
	page := ann.get("/users/ann/jobs?page=2")
	w.has("long", page, 200, "100 in all", "Page 2 of 2", "…")
	if len(page.text) > 400<<10 {
		t.Errorf("the page has %d bytes", len(page.text))
	}
	many := url.Values{}
	for id := range 100 {
		many.Add("id", strconv.Itoa(id+1))
	}
	if got := strings.Count(ann.get("/users/ann/jobs/progress?"+many.Encode()).text, `"state"`); got != 50 {
		t.Errorf("progress of %d jobs, want 50", got)
	}
	w.change(1, func(j *saved.Job) { j.State, j.Repositories = saved.JobRunning, make([]uint32, 120) })
	for range 120 {
		w.found(1, "", saved.JobStep{Failure: "not indexed"})
	}
	w.has("long log", ann.get("/users/ann/jobs/1?page=3"), 200, "Page 3 of 3", "120 of 120, 120 not whole")
	w.kept = nil
	for _, path := range []string{"", "/1", "/progress?id=1"} {
		w.has("while opening", ann.get("/users/ann/jobs"+path), 503, "opening data directory")
	}
}
