package browse

import (
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store"
)

// Paths of repositories. A part of a name is not "-" alone, and the first "@"
// begins the revision, whose parts are not "-" either: "/-/" ends both.
const (
	repoPath = `/{repo:(?:[^/@-][^/@]*|-[^/@]+)(?:/(?:[^/@-][^/@]*|-[^/@]+))*}`
	revPath  = repoPath + `{rev:(?:@[^/]*(?:/(?:[^/-][^/]*|-[^/]+))*)?}`
	restPath = `{path:(?:/(?s:.*))?}`
)

const (
	// writeWithin is how long a piece of an answer may take to leave.
	writeWithin = time.Minute
	// maxArchives are made at once; others wait, archiveWait at most.
	maxArchives = 4
	archiveWait = 10 * time.Second
)

// Endpoint answers requests for what is in repositories. Its fields are set
// before Routes and not changed afterwards.
type Endpoint struct {
	// Store returns nil until the data directory is open.
	Store func() *store.Store
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	once     sync.Once
	archives chan struct{} // holds a token for each archive that is made
}

func (e *Endpoint) prepare() {
	e.once.Do(func() {
		if e.Now == nil {
			e.Now = time.Now
		}
		e.archives = make(chan struct{}, maxArchives)
	})
}

// Routes returns the routes of the endpoint. Since a repository may have almost
// any name they come behind all others.
func (e *Endpoint) Routes() []httpapi.Route {
	e.prepare()
	raw := revPath + "/-/raw" + restPath
	return []httpapi.Route{
		{Method: "GET", Path: raw, Handler: e.serveRaw, About: "the bytes of a file, the names in a directory, or an archive of either"},
		{Method: "HEAD", Path: raw, Handler: e.serveRaw},
	}
}
