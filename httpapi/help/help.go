package help

import (
	"embed"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/web"
)

//go:embed all:pages
var files embed.FS

var pages = web.NewTemplates(files, "pages", nil)

// Where the pages are.
const (
	Path        = "/help"
	QueryPath   = Path + "/query"
	StreamPath  = Path + "/api/stream"
	GraphQLPath = Path + "/api/graphql"
)

// Book is the pages. Its fields are set before Routes and not changed
// afterwards.
type Book struct {
	// Server is where the pages are.
	Server *httpapi.Server
	// Limits are those of GraphQL requests now; nil is the defaults.
	Limits *cost.Current
}

// data is what every page is given.
type data struct {
	// URL is how the client reaches the server.
	URL    string
	Limits cost.Limits
}

// Routes returns the routes of the pages. Any client may read them: they say
// nothing about the indexed repositories.
func (b *Book) Routes() []httpapi.Route {
	var all []httpapi.Route
	for _, p := range []struct{ path, page, about string }{
		{Path, "index.html", "help"},
		{QueryPath, "query.html", "how queries are written"},
		{StreamPath, "stream.html", "how to search from a program"},
		{GraphQLPath, "graphql.html", "how to use GraphQL, and its cost limits"},
	} {
		all = append(all, httpapi.Route{Method: "GET", Path: p.path, Handler: b.serve(p.path, p.page), Holds: httpapi.PageHolds, Access: auth.ForPublic, About: p.about})
	}
	return all
}

func (b *Book) serve(path, page string) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		d := data{URL: auth.BaseURL(b.Server.ExternalURL, r), Limits: b.Limits.Load()}
		return b.Server.ServePage(w, r, pages, web.View{Page: page, Here: path, Compress: true, Data: d})
	}
}
