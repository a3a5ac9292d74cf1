package browse

import (
	"net/http"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/hostlink"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/fair"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/spool"
)

// Paths of repositories. A part of a name is not "-" alone, and the first "@"
// begins the revision, whose parts are not "-" either: "/-/" ends both.
const (
	repoPath = `/{repo:(?:[^/@-][^/@]*|-[^/@]+)(?:/(?:[^/@-][^/@]*|-[^/@]+))*}`
	revPath  = repoPath + `{rev:(?:@[^/]*(?:/(?:[^/-][^/]*|-[^/]+))*)?}`
	restPath = `{path:(?:/(?s:.*))?}`
	// commitPath and comparePath have revisions at the end.
	commitPath  = `/-/commit/{oid:(?s:.+)}`
	comparePath = `/-/compare/{spec:(?s:.+)}`
)

const (
	// maxArchives are sent at once, three quarters of them to one client; others
	// wait, usualPatience at most.
	maxArchives = 16
)

// Pages is the server that pages are of.
type Pages interface {
	// ServePage answers with a page of a package's templates.
	ServePage(w http.ResponseWriter, r *http.Request, t web.Templates, v web.View) error
	// Path is where clients reach a path of the server.
	Path(path string) string
}

// Endpoint answers requests for what is in repositories. Its fields are set
// before Routes and not changed afterwards.
type Endpoint struct {
	// Store returns nil until the data directory is open.
	Store func() *store.Store
	// Pages frames what people look at.
	Pages Pages
	// Git returns what git's processes share with those that others start; nil,
	// or one that returns nil, is nothing.
	Git func() *git.Budget
	// Spool is where downloads wait for their clients. It is called only once Store
	// returns one.
	Spool func() *spool.Space
	// Pace is how long a client may take for 256 KiB of a download; 0 is a minute.
	Pace time.Duration
	// Patience is how long a download waits for room in the spool, and an archive
	// for its turn; 0 is 10 s.
	Patience time.Duration
	// Refresh has a repository synced soon, out of turn.
	Refresh func(name string)
	// Registry keeps the audit log. It is nil, or returns nil, where there is
	// none.
	Registry func() *identity.Registry
	// PaintWithin is how long the text of one page is coloured before the rest
	// stays plain; 0 is 400 ms.
	PaintWithin time.Duration
	// BlameWithin is how long git may take for the blame of one page, the history of lines,
	// or the names that a file had before; 0 is 15 s.
	BlameWithin time.Duration
	// Now is the clock that ages are told by; nil is time.Now.
	Now func() time.Time
	// Links say where files are elsewhere.
	Links hostlink.Links
	// Languages counts the languages of repositories; nil is a count of its own.
	Languages *code.Languages
	// Nodes returns how many nodes are alive and divide what an actor may have fetched;
	// nil is one.
	Nodes func() int

	once     sync.Once
	archives *fair.Semaphore // for each archive that is sent
	painter  *painter
	// refreshes limits how many repositories an actor has fetched.
	refreshes *auth.Limiter
}

func (e *Endpoint) prepare() {
	e.once.Do(func() {
		e.archives, e.painter = fair.NewSemaphore(maxArchives, 0), newPainter(e.PaintWithin)
		e.refreshes = auth.NewLimiter(refreshesPerMinute, e.Nodes)
		if e.Languages == nil {
			e.Languages = &code.Languages{}
		}
	})
}

// Routes returns the routes of the endpoint. Since a repository may have almost
// any name they come behind all others.
func (e *Endpoint) Routes() []httpapi.Route {
	e.prepare()
	raw := revPath + "/-/raw" + restPath
	return []httpapi.Route{
		{Method: "POST", Path: coloursPath, Handler: e.serveColours, Holds: coloursHolds, About: "the colours of some lines of code"},
		{Method: "POST", Path: "/.api/repos" + repoPath + "/-/refresh", Handler: e.serveRefresh, About: "has a repository fetched soon"},
		{Method: "GET", Path: raw, Handler: e.serveRaw, Holds: rawHolds, About: "the bytes of a file, the names in a directory, or an archive of either"},
		{Method: "HEAD", Path: raw, Handler: e.serveRaw, Holds: rawHolds},
		{Method: "GET", Path: revPath + "/-/blob" + restPath, Handler: e.show(e.blob), Holds: blobHolds, About: "a file; ?L10-20 marks lines"},
		{Method: "GET", Path: revPath + "/-/blame" + restPath, Handler: e.show(e.blame), Holds: blobHolds, About: "a file, and who wrote its lines"},
		{Method: "GET", Path: revPath + "/-/tree" + restPath, Handler: e.show(e.tree), Holds: treeHolds, About: "a directory"},
		{Method: "GET", Path: revPath + "/-/commits" + restPath, Handler: e.show(e.commits), Holds: diffHolds, About: "the commits that led here; ?L10-20 are those that changed lines of a file"},
		{Method: "GET", Path: repoPath + commitPath, Handler: e.show(e.commit), Holds: diffHolds, About: "a commit and what it changed"},
		{Method: "GET", Path: repoPath + comparePath, Handler: e.show(e.compare), Holds: diffHolds, About: "what one revision has that another lacks: base...head"},
		{Method: "GET", Path: repoPath + "/-/branches", Handler: e.show(e.branches), Holds: branchesHolds, About: "branches and tags"},
		{Method: "GET", Path: revPath, Handler: e.show(e.tree), Holds: treeHolds, About: "a repository"},
	}
}
