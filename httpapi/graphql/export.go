package graphql

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/saved"
)

// exportPath is where what search jobs found is fetched.
const exportPath = "/.api/search/export/"

// serveExport answers with the results or the log of a search job.
func (e *Endpoint) serveExport(w http.ResponseWriter, r *http.Request) error {
	data := e.Data()
	if data == nil {
		w.Header().Set("Retry-After", "1")
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	number, kind, _ := strings.Cut(mux.Vars(r)["file"], ".")
	id, err := strconv.ParseUint(number, 10, 32)
	if err != nil || kind != "jsonl" && kind != "log" {
		return &httpapi.Error{Status: http.StatusBadRequest, Message: "name a search job by its number, as in 7.jsonl or 7.log"}
	}
	job, err := data.Book.Job(uint32(id))
	if missing(err) {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "no such search job"}
	}
	if err != nil {
		return err
	}
	if a := auth.From(r.Context()); !a.SiteAdmin() && (a.User == nil || a.User.ID != job.Creator) {
		return &httpapi.Error{Status: http.StatusForbidden, Message: "this search job is somebody else's"}
	}
	if !job.State.Final() {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "the search job is not over yet"}
	}
	name := fmt.Sprintf("search-jobs_%d_%s", id, job.Created.UTC().Format("2006-01-02_150405"))
	if kind == "log" {
		return exportLog(w, data.Book, job, name)
	}
	return exportResults(w, data.Book, job, name)
}

// attach sets the headers of a file.
func attach(w http.ResponseWriter, contentType, name string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

func exportResults(w http.ResponseWriter, book *saved.Book, job *saved.Job, name string) error {
	attach(w, "application/jsonlines", name+".jsonl")
	control := http.NewResponseController(w)
	sent := false
	err := book.JobResults(job.ID, func(part []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeWithin)) // of a server that can
		sent = true
		_, err := w.Write(part)
		return err
	})
	if err != nil && sent {
		panic(http.ErrAbortHandler) // so that nobody takes it for whole
	}
	return err
}

func exportLog(w http.ResponseWriter, book *saved.Book, job *saved.Job, name string) error {
	steps, err := book.JobSteps(job.ID)
	if err != nil {
		return err
	}
	attach(w, "text/csv", name+".log.csv")
	out := csv.NewWriter(w)
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	_ = out.Write([]string{"repository", "started_at", "finished_at", "matches", "failure"})
	for _, s := range steps {
		_ = out.Write([]string{s.Repository, stamp(s.Started), stamp(s.Finished), strconv.Itoa(s.Matches), s.Failure})
	}
	if job.Failure != "" {
		_ = out.Write([]string{"", stamp(job.Started), stamp(job.Finished), "", job.Failure})
	}
	out.Flush() // a client that is gone misses nothing
	return nil
}
