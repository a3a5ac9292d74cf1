package console

import (
	"embed"
	"net/http"
	"net/url"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/settings"
	"github.com/trawlsearch/trawl/httpapi/web"
)

// Path is where the GraphQL console is, StreamPath where the events are.
const (
	Path       = "/debug/console"
	StreamPath = "/debug/stream"
	// oldPath is in links of clients.
	oldPath = "/api/console"
)

//go:embed pages
var files embed.FS

var pages = web.NewTemplates(files, "pages", nil)

// Console is the pages of a server.
type Console struct {
	Server *httpapi.Server
}

// Sections returns the entries of the sidebar that lead here, with the routes.
func (c *Console) Sections() []settings.Section {
	return []settings.Section{
		{Group: settings.Tools, Link: web.Link{Title: "Debug console", Path: Path}, Routes: []httpapi.Route{
			{Method: "GET", Path: Path, Handler: c.serveConsole, About: "GraphQL, with an editor and the documentation of the schema"},
			// A browser keeps the fragment, in which links have the query.
			{Method: "GET", Path: oldPath, Handler: c.redirect, Access: auth.ForAnyone},
		}},
		{Group: settings.Tools, Link: web.Link{Title: "Raw events", Path: StreamPath}, Routes: []httpapi.Route{
			{Method: "GET", Path: StreamPath, Handler: c.serveStream, About: "the raw events of a search, as they come"},
		}},
	}
}

func (c *Console) redirect(w http.ResponseWriter, r *http.Request) error {
	to := url.URL{Path: c.Server.Path(Path), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
	return nil
}

// serveConsole answers with GraphiQL. Its policy allows the small pictures that
// its stylesheet holds; the styles that it makes while it runs have the nonce.
func (c *Console) serveConsole(w http.ResponseWriter, r *http.Request) error {
	return c.Server.ServePage(w, r, pages, web.View{
		Page: "console.html", Here: Path, Wide: true, Compress: true, Data: examples,
		Classic: []string{"vendor/react.js", "vendor/react-dom.js", "vendor/graphiql.js"},
		Scripts: []string{"console.js"}, Styles: []string{"vendor/graphiql.css", "console.css"},
		Policy: map[string]string{"img-src": "'self' data:"},
	})
}

// streamData is what the page of events was asked for, by the names of the
// stream's parameters.
type streamData struct {
	Query, Type, Version, Display, MaxLine, Context string
	Chunks                                          bool
	Types, Versions                                 []string
	Base                                            string
}

func (c *Console) serveStream(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	return c.Server.ServePage(w, r, pages, web.View{
		Page: "stream.html", Here: StreamPath, Compress: true, Scripts: []string{"raw.js"}, Styles: []string{"raw.css"},
		Data: streamData{
			Query: q.Get("q"), Type: q.Get("t"), Version: q.Get("v"), Display: q.Get("display"), MaxLine: q.Get("max-line-len"),
			Context: q.Get("cl"), Chunks: q.Get("cm") != "" || !q.Has("q"),
			Types: []string{"keyword", "standard", "literal", "regexp"}, Versions: []string{"V1", "V2", "V3"},
			Base: auth.BaseURL(c.Server.ExternalURL, r),
		},
	})
}
