package httpapi

import (
	"embed"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi/web"
)

//go:embed pages
var pageFiles embed.FS

// pages are the templates of this package.
var pages = web.MustParse(pageFiles, "pages", nil)

// ServePage answers with a page of t, in the frame of this server.
func (s *Server) ServePage(w http.ResponseWriter, r *http.Request, t web.Templates, v web.View) error {
	v.Base, v.Users = s.Path(""), s.Gate.Registry != nil
	return t.Serve(w, r, v)
}

// serveAsset answers with a style or a script.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request) error {
	if vars := mux.Vars(r); !web.ServeAsset(w, r, vars["version"], vars["name"]) {
		return notFound(w, r)
	}
	return nil
}

const helpPath = "/help/api"

// indexData is what the page about the surface shows.
type indexData struct {
	Base   string
	Routes []Route
}

// serveIndex lists the surface for whoever writes a client.
func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request) error {
	data := indexData{Base: s.baseURL(r)}
	for _, route := range s.routes() {
		if route.About != "" {
			data.Routes = append(data.Routes, route)
		}
	}
	return s.ServePage(w, r, pages, web.View{Page: "index.html", Here: helpPath, Data: data})
}

// Link reports whether the route can be opened as it stands.
func (r Route) Link() bool { return r.Method == http.MethodGet && !strings.Contains(r.Path, "{") }
