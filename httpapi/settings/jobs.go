package settings

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// jobs returns the search jobs of who asks.
func (v *visit) jobs() *manage.Jobs { return &manage.Jobs{Kept: v.kept, Actor: v.Actor} }

// jobsData is what the list of search jobs shows.
type jobsData struct {
	frame
	paging
	Jobs []jobRow
	// Text is what was filled in.
	Text string
}

// jobRow is a search job as pages show it.
type jobRow struct {
	Title, Path, Failure       string
	Created, Started, Finished time.Time
	jobProgress
}

// jobProgress is how far a job is, for the script of the page too.
type jobProgress struct {
	ID    uint32 `json:"id"`
	State string `json:"state"`
	Over  bool   `json:"over"`
	// Of Total repositories so many were searched, not all of them whole.
	Total    int `json:"total"`
	Done     int `json:"done"`
	Failures int `json:"failures"`
	// Size is how much it found.
	Size string `json:"size"`
}

// stateWords are the states of a job as people read them.
var stateWords = map[saved.JobState]string{
	saved.JobQueued: "waiting", saved.JobRunning: "searching", saved.JobFailed: "failed", saved.JobCompleted: "done", saved.JobCanceled: "cancelled",
}

func newJobProgress(j *saved.Job) jobProgress {
	return jobProgress{ID: j.ID, State: stateWords[j.State], Over: j.State.Final(), Total: len(j.Repositories), Done: j.Done, Failures: j.Failures, Size: size(j.Bytes)}
}

// size writes bytes for people.
func size(bytes int64) string {
	switch {
	case bytes >= 1e6:
		return strconv.FormatFloat(float64(bytes)/1e6, 'f', 1, 64) + " MB"
	case bytes >= 1e3:
		return strconv.FormatInt(bytes/1e3, 10) + " KB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

func newJobRow(j *saved.Job, path string) jobRow {
	return jobRow{
		Title: brief(j.Query), Path: path + "/" + strconv.FormatUint(uint64(j.ID), 10), Failure: j.Failure,
		Created: j.Created, Started: j.Started, Finished: j.Finished, jobProgress: newJobProgress(j),
	}
}

// fill lists the jobs of the user, the newest first.
func (d *jobsData) fill(v *visit) error {
	if v.kept == nil {
		return errOpening
	}
	if v.r.Method == http.MethodGet {
		d.Text = v.r.URL.Query().Get("query")
	}
	q, all := searchedFor(v.r), []uint32{}
	err := v.jobs().Each(func(j *saved.Job) {
		if j.Creator == v.subject.ID && matches(q, j.Query) {
			all = append(all, j.ID)
		}
	})
	if err != nil {
		return err
	}
	slices.Reverse(all)
	d.paging = newPaging(v.r, d.Path, len(all))
	for _, id := range shown(d.paging, all) {
		j, err := v.jobs().Find(id)
		if isGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		d.Jobs = append(d.Jobs, newJobRow(j, d.Path))
	}
	return nil
}

// createJob queues a search for who asks, which is nobody else's to do.
func createJob(v *visit) (answer, error) {
	d := &jobsData{Text: v.value("query")}
	switch {
	case v.kept == nil:
		return answer{data: d}, nil // which it cannot fill in
	case !v.subject.Self:
		return answer{}, errNoUser
	}
	if _, err := v.jobs().Create(d.Text); err != nil {
		return answer{data: d}, err
	}
	return answer{did: "queued"}, nil
}

// jobData is what the page of a search job shows.
type jobData struct {
	frame
	paging
	Row jobRow
	// Steps are its log, as far as the reader may see it; LeftOut counts the other
	// repositories.
	Steps   []*saved.JobStep
	LeftOut int
	// List is the path of the list, Export that of the results without its ending.
	List, Export string
}

// errNoJob is the answer whether there is no such job or it is none of the client's
// business.
var errNoJob = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such search job"}

// job finds the one of the path among those of the user.
func (v *visit) job() (*saved.Job, error) {
	if v.kept == nil {
		return nil, errOpening
	}
	j, err := v.jobs().Find(v.number())
	if isGone(err) || err == nil && j.Creator != v.subject.ID {
		return nil, errNoJob
	}
	return j, err
}

func (d *jobData) fill(v *visit) error {
	j, err := v.job()
	if err != nil {
		return err
	}
	d.List = strings.TrimSuffix(d.Path, "/"+mux.Vars(v.r)["id"])
	d.Row, d.Export = newJobRow(j, d.List), v.area.Server.Path("/.api/search/export/"+strconv.FormatUint(uint64(j.ID), 10))
	found, err := v.jobs().Found(j)
	if err != nil {
		return err
	}
	steps, leftOut := found.Shown()
	d.LeftOut = leftOut
	d.paging = newPaging(v.r, d.Path, len(steps))
	d.Steps = shown(d.paging, steps)
	return nil
}

func cancelJob(v *visit) (answer, error) {
	j, err := v.job()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "cancelled"}, v.jobs().Cancel(j.ID)
}

func deleteJob(v *visit) (answer, error) {
	j, err := v.job()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "deleted", to: userPath(v.subject.Name) + "/jobs"}, v.jobs().Delete(j.ID)
}

// jobRoutes tells the scripts of the pages how far some jobs of a user are. A job that
// is gone is left out.
func (a *Area) jobRoutes() []httpapi.Route {
	p := &page{path: "/users/{user}/jobs"}
	return []httpapi.Route{{Method: "GET", Path: p.path + "/progress", Access: auth.ForUsers, Holds: httpapi.PageHolds, Handler: func(w http.ResponseWriter, r *http.Request) error {
		v, err := a.visit(w, r, nil, p)
		if err != nil {
			return err
		}
		if v.kept == nil {
			return errOpening
		}
		all, ids := []jobProgress{}, r.URL.Query()["id"]
		for _, text := range ids[:min(len(ids), perPage)] {
			id, _ := strconv.ParseUint(text, 10, 32) // 0 is none
			j, err := v.jobs().Find(uint32(id))
			if isGone(err) || err == nil && j.Creator != v.subject.ID {
				continue
			}
			if err != nil {
				return err
			}
			all = append(all, newJobProgress(j))
		}
		body, err := json.Marshal(all)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		return httpapi.WriteBody(w, r, http.StatusOK, body)
	}}}
}
