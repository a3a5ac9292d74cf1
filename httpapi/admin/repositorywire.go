package admin

import (
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// What the admin routes read and write.
type (
	// Add is the body of a request to add a repository.
	Add struct {
		Source string `json:"source"`
	}

	// Facts is the body of a request to change what is known about a
	// repository; what it leaves out stays. ClearMetadata takes all keys away,
	// RemoveMetadata some; Metadata are put, a null value being a tag.
	Facts struct {
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

	// Repository tells about one repository; its source is without
	// credentials. Branch and Commit are those of the default branch, Branches
	// the others that are indexed.
	Repository struct {
		Name     string   `json:"name"`
		Source   string   `json:"source"`
		Branch   string   `json:"branch,omitempty"`
		Commit   string   `json:"commit,omitempty"`
		Branches []Branch `json:"branches,omitempty"`
		// BranchesLeftOut counts those that would be too many to index.
		BranchesLeftOut int       `json:"branchesLeftOut,omitempty"`
		Indexed         bool      `json:"indexed"`
		Documents       int       `json:"documents"`
		TextBytes       int64     `json:"textBytes"`
		Skipped         int       `json:"skipped"`
		LastFetched     time.Time `json:"lastFetched,omitzero"`
		LastIndexed     time.Time `json:"lastIndexed,omitzero"`
		Error           string    `json:"error,omitempty"`
		// HiddenSince is since when its code host does not list it, and no search finds it.
		HiddenSince time.Time `json:"hiddenSince,omitzero"`

		History History `json:"history,omitzero"`

		BranchGlobs []string           `json:"branchGlobs,omitempty"`
		Stars       int                `json:"stars,omitempty"`
		Fork        bool               `json:"fork,omitempty"`
		Archived    bool               `json:"archived,omitempty"`
		Private     bool               `json:"private,omitempty"`
		Description string             `json:"description,omitempty"`
		Topics      []string           `json:"topics,omitempty"`
		Metadata    map[string]*string `json:"metadata,omitempty"`
	}

	// Branch is an indexed branch.
	Branch struct {
		Name   string `json:"name"`
		Commit string `json:"commit"`
	}

	// History tells what is kept of a repository's commits. Reading says
	// that there is more to read, More that there are older ones that are not to
	// be kept. Diffs counts the commits that have theirs, merges not among them,
	// TooLarge the files whose diff is too large to be kept.
	History struct {
		Commits  int       `json:"commits"`
		Diffs    int       `json:"diffs"`
		TooLarge int       `json:"tooLarge,omitempty"`
		Reading  bool      `json:"reading,omitempty"`
		More     bool      `json:"more,omitempty"`
		LastRead time.Time `json:"lastRead,omitzero"`
		Error    string    `json:"error,omitempty"`
	}

	// Line is one line of an answer that takes its time: exactly one
	// field is set. Result or Error is the last; an answer without is cut off.
	Line struct {
		Progress *Progress `json:"progress,omitempty"`
		Skipped  *Skipped  `json:"skipped,omitempty"`
		Finding  *Finding  `json:"finding,omitempty"`
		Result   *Result   `json:"result,omitempty"`
		Error    string    `json:"error,omitempty"`
	}

	// Progress tells how far a sync is.
	Progress struct {
		Phase string `json:"phase"`
		Note  string `json:"note,omitempty"`
		Done  int    `json:"done,omitempty"`
		Total int    `json:"total,omitempty"`
		Bytes int64  `json:"bytes,omitempty"`
	}

	// Skipped is a document whose content is not searched.
	Skipped struct {
		Path   string `json:"path"`
		Reason string `json:"reason"`
		Bytes  int64  `json:"size"`
	}

	// Result is what a sync did; it is empty for other answers.
	Result struct {
		Repository *Repository `json:"repository,omitempty"`
		Added      int         `json:"added,omitempty"`
		Removed    int         `json:"removed,omitempty"`
		Unchanged  int         `json:"unchanged,omitempty"`
		Bytes      int64       `json:"bytes,omitempty"`
		TookMillis int64       `json:"tookMillis,omitempty"`
		// Backup is what a backup did.
		Backup *BackupResult `json:"backup,omitempty"`
	}
)

func (Add) example() string   { return `{"source": "…"}` }
func (Facts) example() string { return `facts such as {"stars": 41}` }

func newRepository(r *store.Repository) Repository {
	out := Repository{
		Name: r.Name, Source: redact.URL(r.Source), Commit: r.Commit(), Indexed: r.Indexed(),
		Documents: r.Documents, TextBytes: r.TextBytes, Skipped: r.Skipped,
		LastFetched: r.Fetched(), LastIndexed: r.LastIndexed, Error: redact.About(r.LastError, r.Source), HiddenSince: r.Gone,
		Stars: r.Stars, Fork: r.Fork, Archived: r.Archived, Private: r.Private,
		Description: r.Description, Topics: r.Topics, Metadata: r.Metadata,
		BranchGlobs: r.BranchGlobs, BranchesLeftOut: int(r.BranchesLeftOut),
		History: newHistory(r),
	}
	for i, b := range r.Branches {
		if i == 0 {
			out.Branch = b.Name
			continue
		}
		out.Branches = append(out.Branches, Branch{b.Name, b.Commit})
	}
	return out
}

func newHistory(r *store.Repository) History {
	h := &r.History
	return History{
		Commits: h.Commits, Diffs: h.Diffs, TooLarge: h.TooLarge, Reading: r.Indexed() && h.Depth != "" && !h.Complete(r.Commit()),
		More: h.More, LastRead: h.LastRead.Time(), Error: redact.About(h.LastError, r.Source),
	}
}

// NewFacts returns a change of facts as it is sent.
func NewFacts(c store.FactsChange) Facts {
	return Facts{
		Stars: c.Stars, Fork: c.Fork, Archived: c.Archived, Private: c.Private, Description: c.Description, Topics: c.Topics, Branches: c.Branches,
		ClearMetadata: c.ClearMetadata, RemoveMetadata: c.RemoveMetadata, Metadata: c.Metadata,
	}
}

func (f Facts) change() store.FactsChange {
	return store.FactsChange{
		Stars: f.Stars, Fork: f.Fork, Archived: f.Archived, Private: f.Private, Description: f.Description, Topics: f.Topics, Branches: f.Branches,
		ClearMetadata: f.ClearMetadata, RemoveMetadata: f.RemoveMetadata, Metadata: f.Metadata,
	}
}

func newResult(res ingest.Result) Result {
	out := Result{
		Added: res.Added, Removed: res.Removed, Unchanged: res.Unchanged,
		Bytes: res.Bytes, TookMillis: res.Took.Milliseconds(),
	}
	if res.Repository != nil {
		r := newRepository(res.Repository)
		out.Repository = &r
	}
	return out
}
