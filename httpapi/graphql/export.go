package graphql

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
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
	x := &export{data: data, actor: auth.From(r.Context()), job: job}
	if err := x.read(); err != nil {
		return err
	}
	if kind == "log" {
		return x.serveLog(w, name)
	}
	return x.serveResults(r.Context(), w, name)
}

// attach sets the headers of a file.
func attach(w http.ResponseWriter, contentType, name string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// leftOutHeader tells of how many repositories the results are left out.
const leftOutHeader = "X-Trawl-Left-Out"

// errOldJob is a job of which it is not known what it found where.
var errOldJob = &httpapi.Error{
	Status: http.StatusConflict, Message: "some of what this search job found is hidden from you now, and an older version kept it in one piece: run the search again",
}

// export is what a search job found, as far as the client may see it at the
// time: readers may have changed since the job ran.
type export struct {
	data  *Data
	actor *auth.Actor
	job   *saved.Job
	steps []*saved.JobStep
	// visible tells for each repository of the job whether the client may see it.
	visible []bool
}

// read reads the steps of the job, and the present readers.
func (x *export) read() (err error) {
	if x.steps, err = x.data.Book.JobSteps(x.job.ID); err != nil {
		return err
	}
	sn := x.data.Store.Snapshot()
	for _, id := range x.job.Repositories {
		r := sn.RepositoryByID(id)
		x.visible = append(x.visible, x.actor.SeesAll() || r != nil && x.actor.CanSee(r))
	}
	return sn.Close()
}

// sees reports whether the client may see the nth repository of the job.
func (x *export) sees(n int) bool {
	return n < len(x.visible) && x.visible[n] || x.actor.SeesAll()
}

// parts are those of the results that the client may see. leftOut counts the
// repositories whose results it may not.
func (x *export) parts() (parts []uint32, leftOut int, err error) {
	from := uint32(0)
	take := func(to uint32, sees bool) {
		if from < to && !sees {
			leftOut++
		}
		for ; from < to; from++ {
			if sees {
				parts = append(parts, from)
			}
		}
	}
	if slices.ContainsFunc(x.steps, func(s *saved.JobStep) bool { return s.PartsEnd == nil }) {
		if slices.Contains(x.visible, false) {
			return nil, 0, errOldJob
		}
		take(x.job.Parts, true)
		return parts, 0, nil
	}
	for n, step := range x.steps {
		take(*step.PartsEnd, x.sees(n))
	}
	take(x.job.Parts, x.sees(len(x.steps))) // of a repository that was not finished
	return parts, leftOut, nil
}

func (x *export) serveResults(ctx context.Context, w http.ResponseWriter, name string) error {
	parts, leftOut, err := x.parts()
	if err != nil {
		return err
	}
	attach(w, "application/jsonlines", name+".jsonl")
	w.Header().Set(leftOutHeader, strconv.Itoa(leftOut))
	control := http.NewResponseController(w)
	for n, part := range parts {
		text, err := x.data.Book.JobPart(x.job.ID, part)
		if err == nil {
			err = ctx.Err() // the credential may end, or what it may see
		}
		if err == nil {
			_ = control.SetWriteDeadline(time.Now().Add(writeWithin)) // of a server that can
			_, err = w.Write(text)
		}
		if err != nil && n > 0 {
			panic(http.ErrAbortHandler) // so that nobody takes it for whole
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *export) serveLog(w http.ResponseWriter, name string) error {
	attach(w, "text/csv", name+".log.csv")
	out := csv.NewWriter(w)
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	_ = out.Write([]string{"repository", "started_at", "finished_at", "matches", "failure"})
	leftOut := 0
	for n, s := range x.steps {
		if s.Repository != "" && !x.sees(n) {
			leftOut++
			continue
		}
		_ = out.Write([]string{s.Repository, stamp(s.Started), stamp(s.Finished), strconv.Itoa(s.Matches), s.Failure})
	}
	if leftOut > 0 {
		_ = out.Write([]string{"", "", "", "", fmt.Sprintf("left out: %d of the repositories, which are hidden from you now or gone", leftOut)})
	}
	if x.job.Failure != "" {
		_ = out.Write([]string{"", stamp(x.job.Started), stamp(x.job.Finished), "", x.job.Failure})
	}
	out.Flush() // a client that is gone misses nothing
	return nil
}
