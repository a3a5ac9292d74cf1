package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// What the admin routes read and write.
type (
	// AdminAdd is the body of a request to add a repository.
	AdminAdd struct {
		Source string `json:"source"`
	}

	// AdminFacts is the body of a request to change what is known about a
	// repository; what it leaves out stays. ClearMetadata takes all keys away,
	// RemoveMetadata some; Metadata are put, a null value being a tag.
	AdminFacts struct {
		Stars          *int               `json:"stars,omitempty"`
		Fork           *bool              `json:"fork,omitempty"`
		Archived       *bool              `json:"archived,omitempty"`
		Private        *bool              `json:"private,omitempty"`
		Description    *string            `json:"description,omitempty"`
		Topics         *[]string          `json:"topics,omitempty"`
		Branches       *[]string          `json:"branches,omitempty"`
		ClearMetadata  bool               `json:"clearMetadata,omitempty"`
		RemoveMetadata []string           `json:"removeMetadata,omitempty"`
		Metadata       map[string]*string `json:"metadata,omitempty"`
	}

	// AdminRepository tells about one repository; its source is without
	// credentials. Branch and Commit are those of the default branch, Branches
	// the others that are indexed.
	AdminRepository struct {
		Name     string        `json:"name"`
		Source   string        `json:"source"`
		Branch   string        `json:"branch,omitempty"`
		Commit   string        `json:"commit,omitempty"`
		Branches []AdminBranch `json:"branches,omitempty"`
		// BranchesLeftOut counts those that would be too many to index.
		BranchesLeftOut int       `json:"branchesLeftOut,omitempty"`
		Indexed         bool      `json:"indexed"`
		Documents       int       `json:"documents"`
		TextBytes       int64     `json:"textBytes"`
		Skipped         int       `json:"skipped"`
		LastFetched     time.Time `json:"lastFetched,omitzero"`
		LastIndexed     time.Time `json:"lastIndexed,omitzero"`
		Error           string    `json:"error,omitempty"`

		History AdminHistory `json:"history,omitzero"`

		BranchGlobs []string           `json:"branchGlobs,omitempty"`
		Stars       int                `json:"stars,omitempty"`
		Fork        bool               `json:"fork,omitempty"`
		Archived    bool               `json:"archived,omitempty"`
		Private     bool               `json:"private,omitempty"`
		Description string             `json:"description,omitempty"`
		Topics      []string           `json:"topics,omitempty"`
		Metadata    map[string]*string `json:"metadata,omitempty"`
	}

	// AdminBranch is an indexed branch.
	AdminBranch struct {
		Name   string `json:"name"`
		Commit string `json:"commit"`
	}

	// AdminHistory tells what is kept of a repository's commits. Reading says
	// that there is more to read, More that there are older ones that are not to
	// be kept. Diffs counts the commits that have theirs, merges not among them,
	// TooLarge the files whose diff is too large to be kept.
	AdminHistory struct {
		Commits  int       `json:"commits"`
		Diffs    int       `json:"diffs"`
		TooLarge int       `json:"tooLarge,omitempty"`
		Reading  bool      `json:"reading,omitempty"`
		More     bool      `json:"more,omitempty"`
		LastRead time.Time `json:"lastRead,omitzero"`
		Error    string    `json:"error,omitempty"`
	}

	// AdminLine is one line of an answer that takes its time: exactly one
	// field is set. Result or Error is the last; an answer without is cut off.
	AdminLine struct {
		Progress *AdminProgress `json:"progress,omitempty"`
		Skipped  *AdminSkipped  `json:"skipped,omitempty"`
		Finding  *AdminFinding  `json:"finding,omitempty"`
		Result   *AdminResult   `json:"result,omitempty"`
		Error    string         `json:"error,omitempty"`
	}

	// AdminProgress tells how far a sync is.
	AdminProgress struct {
		Phase string `json:"phase"`
		Note  string `json:"note,omitempty"`
		Done  int    `json:"done,omitempty"`
		Total int    `json:"total,omitempty"`
		Bytes int64  `json:"bytes,omitempty"`
	}

	// AdminSkipped is a document whose content is not searched.
	AdminSkipped struct {
		Path   string `json:"path"`
		Reason string `json:"reason"`
		Bytes  int64  `json:"size"`
	}

	// AdminResult is what a sync did; it is empty for other answers.
	AdminResult struct {
		Repository *AdminRepository `json:"repository,omitempty"`
		Added      int              `json:"added,omitempty"`
		Removed    int              `json:"removed,omitempty"`
		Unchanged  int              `json:"unchanged,omitempty"`
		Bytes      int64            `json:"bytes,omitempty"`
		TookMillis int64            `json:"tookMillis,omitempty"`
		// Backup is what a backup did.
		Backup *AdminBackupResult `json:"backup,omitempty"`
	}
)

func newAdminRepository(r *store.Repository) AdminRepository {
	out := AdminRepository{
		Name: r.Name, Source: redact.URL(r.Source), Commit: r.Commit(), Indexed: r.Indexed(),
		Documents: r.Documents, TextBytes: r.TextBytes, Skipped: r.Skipped,
		LastFetched: r.LastFetched, LastIndexed: r.LastIndexed, Error: redact.About(r.LastError, r.Source),
		Stars: r.Stars, Fork: r.Fork, Archived: r.Archived, Private: r.Private,
		Description: r.Description, Topics: r.Topics, Metadata: r.Metadata,
		BranchGlobs: r.BranchGlobs, BranchesLeftOut: r.BranchesLeftOut,
		History: newAdminHistory(r),
	}
	for i, b := range r.Branches {
		if i == 0 {
			out.Branch = b.Name
			continue
		}
		out.Branches = append(out.Branches, AdminBranch{b.Name, b.Commit})
	}
	return out
}

func newAdminHistory(r *store.Repository) AdminHistory {
	h := &r.History
	return AdminHistory{
		Commits: h.Commits, Diffs: h.Diffs, TooLarge: h.TooLarge, Reading: r.Indexed() && h.Depth != "" && !h.Complete(r.Commit()),
		More: h.More, LastRead: h.LastRead, Error: redact.About(h.LastError, r.Source),
	}
}

// NewAdminFacts returns a change of facts as it is sent.
func NewAdminFacts(c store.FactsChange) AdminFacts {
	return AdminFacts{
		Stars: c.Stars, Fork: c.Fork, Archived: c.Archived, Private: c.Private, Description: c.Description, Topics: c.Topics, Branches: c.Branches,
		ClearMetadata: c.ClearMetadata, RemoveMetadata: c.RemoveMetadata, Metadata: c.Metadata,
	}
}

func (f AdminFacts) change() store.FactsChange {
	return store.FactsChange{
		Stars: f.Stars, Fork: f.Fork, Archived: f.Archived, Private: f.Private, Description: f.Description, Topics: f.Topics, Branches: f.Branches,
		ClearMetadata: f.ClearMetadata, RemoveMetadata: f.RemoveMetadata, Metadata: f.Metadata,
	}
}

func newAdminResult(res ingest.Result) *AdminResult {
	out := &AdminResult{
		Added: res.Added, Removed: res.Removed, Unchanged: res.Unchanged,
		Bytes: res.Bytes, TookMillis: res.Took.Milliseconds(),
	}
	if res.Repository != nil {
		r := newAdminRepository(res.Repository)
		out.Repository = &r
	}
	return out
}

// adminLines writes the lines of one answer. It is used by one goroutine.
type adminLines struct {
	w    http.ResponseWriter
	body *body
	sent bool
}

func newAdminLines(w http.ResponseWriter) *adminLines {
	return &adminLines{w: w, body: &body{w: w, ctl: http.NewResponseController(w), patience: defaultWriteTimeout}}
}

// send writes a line and makes sure it leaves.
func (l *adminLines) send(line AdminLine) error {
	data, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode line: %w", err)
	}
	if !l.sent {
		l.sent = true
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.w.Header().Set("Cache-Control", "no-store")
	}
	return l.body.send(append(data, '\n'))
}

// finish writes how it ended. An error before the first line is answered with
// a status.
func (l *adminLines) finish(res *AdminResult, err error) error {
	if err != nil && !l.sent {
		return adminError(err)
	}
	last := AdminLine{Result: res}
	if err != nil {
		last = AdminLine{Error: redact.Text(err.Error())}
	}
	_ = l.send(last) // a client that is gone misses nothing
	return nil
}
