package httpapi

import (
	"compress/gzip"
	"embed"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/compress"
	"github.com/trawlsearch/trawl/httpapi/web"
)

//go:embed all:pages
var pageFiles embed.FS

// pages are the templates of this package.
var pages = web.NewTemplates(pageFiles, "pages", nil)

// PageHolds is the memory of a page that lists little: its data, and the page
// itself. A page with a query of the longest size has 2 MiB.
const PageHolds = 3 << 20

// ServePage answers with a page of t, in the frame of this server. A page that
// is on its way to its client takes no processor and holds what is left of it.
func (s *Server) ServePage(w http.ResponseWriter, r *http.Request, t web.Templates, v web.View) error {
	v.Base, v.Users = s.Path(""), s.Gate.Registry != nil
	work := WorkOf(r.Context())
	if work == nil {
		var err error
		if work, err = s.Admission.Begin(w, r, PageHolds); err != nil {
			return err
		}
		defer work.End()
	}
	page, err := s.render(w, r, t, v, work)
	if err != nil {
		return err
	}
	work.Rest()
	work.Shrink(page.Bytes())
	page.Send(w, s.WriteTimeout, work.Shrink)
	return nil
}

func (s *Server) render(w http.ResponseWriter, r *http.Request, t web.Templates, v web.View, work *Work) (*web.Page, error) {
	zip := s.pageZip(w, r, v)
	if zip != nil {
		defer s.compressors.answers.Put(zip)
	}
	return t.Render(r, v, zip, work.Yield)
}

// pageZip returns a compressor for a page, nil for none: the client takes none, the page
// may not be compressed, or too many are in use.
func (s *Server) pageZip(w http.ResponseWriter, r *http.Request, v web.View) *gzip.Writer {
	if !v.Compress {
		return nil
	}
	if v.Reflected {
		w.Header().Add("Vary", "Sec-Fetch-Site")
		if isLed(r) {
			return nil
		}
	}
	return s.compressors.of(w, r, compress.Least)
}

// isLed reports whether another site may have had the browser of a signed-in user ask for a
// page. Browsers say it in Sec-Fetch-Site. Without that header an old browser may have
// sent the cookie, while no browser sends a token by itself.
func isLed(r *http.Request) bool {
	switch actor := auth.From(r.Context()); r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "":
		return actor.Session
	default:
		return !actor.Anonymous()
	}
}

// sitePages are the pages and texts about the server itself: to search, for
// probes, for client programs and browsers.
type sitePages struct{ *Server }

// serveAsset answers with a style or a script.
func (s sitePages) serveAsset(w http.ResponseWriter, r *http.Request) error {
	if vars := mux.Vars(r); !web.ServeAsset(w, r, vars["version"], vars["name"]) {
		return errNotFound(r)
	}
	return nil
}

const helpPath = "/help/api"

// indexData is the data of the page that lists the routes.
type indexData struct {
	Base   string
	Routes []Route
}

// serveIndex lists the routes for authors of clients.
func (s sitePages) serveIndex(w http.ResponseWriter, r *http.Request) error {
	data := indexData{Base: s.baseURL(r)}
	for _, route := range s.routes() {
		if route.About != "" {
			data.Routes = append(data.Routes, route)
		}
	}
	return s.ServePage(w, r, pages, web.View{Page: "index.html", Here: helpPath, Compress: true, Data: data})
}

// Link reports whether the route can be opened as it stands.
func (r Route) Link() bool {
	return r.Method == http.MethodGet && !r.Asks && !strings.Contains(r.Path, "{")
}
