package graphql

import (
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/manage"
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
	job, err := data.Book.Jobs.Get(uint32(id))
	if account.IsMissing(err) {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "no such search job"}
	}
	if err != nil {
		return err
	}
	if a := auth.From(r.Context()); !a.SiteAdmin() && (a.User == nil || a.User.ID != job.Creator) {
		return &httpapi.Error{Status: http.StatusForbidden, Message: "this search job belongs to another user"}
	}
	if !job.State.Final() {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "the search job is not over yet"}
	}
	name := fmt.Sprintf("search-jobs_%d_%s", id, job.Created.UTC().Format("2006-01-02_150405"))
	all := &manage.Jobs{Kept: &manage.Kept{Store: data.Store, Registry: data.Registry, Book: data.Book, Now: e.Now}, Actor: auth.From(r.Context())}
	found, err := all.Found(job)
	if err != nil {
		return err
	}
	x := &export{found, data.Book}
	if kind == "log" {
		return x.serveLog(w, r, name)
	}
	return x.serveResults(w, r, name)
}

// attach sets the headers of a file.
func attach(w http.ResponseWriter, contentType, name string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// leftOutHeader tells of how many repositories the results are left out.
const leftOutHeader = "X-Trawl-Left-Out"

// leastRow is about how many bytes a row of a log has at least.
const leastRow = 64

// export is what a search job found, to be sent.
type export struct {
	*manage.Found
	book *saved.Book
}

func (x *export) serveResults(w http.ResponseWriter, r *http.Request, name string) error {
	parts, leftOut, err := x.Parts()
	if errors.Is(err, manage.ErrOldJob) {
		return &httpapi.Error{Status: http.StatusConflict, Message: err.Error()}
	}
	if err != nil {
		return err
	}
	attach(w, "application/jsonlines", name+".jsonl")
	w.Header().Set(leftOutHeader, strconv.Itoa(leftOut))
	control := http.NewResponseController(w)
	var body *httpapi.Body
	for n, part := range parts {
		text, err := x.book.Jobs.Part(x.Job.ID, part)
		if err == nil {
			err = r.Context().Err() // the credential may end, or what it may see
		}
		if err == nil {
			_ = control.SetWriteDeadline(time.Now().Add(writeWithin)) // of a server that can
			if body == nil {
				body = httpapi.NewBody(w, r, int64(len(text)*len(parts)))
				defer body.Release()
			}
			_, err = body.Write(text)
		}
		if err != nil && n > 0 {
			panic(http.ErrAbortHandler) // so that nobody takes it for whole
		}
		if err != nil {
			return err
		}
	}
	if body != nil {
		_ = body.End() // a client that is gone misses nothing
	}
	return nil
}

func (x *export) serveLog(w http.ResponseWriter, r *http.Request, name string) error {
	attach(w, "text/csv", name+".log.csv")
	steps, leftOut := x.Shown()
	body := httpapi.NewBody(w, r, int64(len(steps))*leastRow)
	defer body.Release()
	out := csv.NewWriter(body)
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	_ = out.Write([]string{"repository", "started_at", "finished_at", "matches", "failure"})
	for _, s := range steps {
		_ = out.Write([]string{s.Repository, stamp(s.Started), stamp(s.Finished), strconv.Itoa(s.Matches), s.Failure})
	}
	if leftOut > 0 {
		_ = out.Write([]string{"", "", "", "", fmt.Sprintf("left out: %d of the repositories, which are hidden from you now or gone", leftOut)})
	}
	if x.Job.Failure != "" {
		_ = out.Write([]string{"", stamp(x.Job.Started), stamp(x.Job.Finished), "", x.Job.Failure})
	}
	out.Flush() // a client that is gone misses nothing
	_ = body.End()
	return nil
}
