package httpapi

import (
	"net/http"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/query"
)

// errorData is the data of the page about an error.
type errorData struct {
	Title, Message string
	Near           []Near
}

// sendError answers with an error: a page with navigation for browsers, one line
// of text for programs.
func (s middleware) sendError(w http.ResponseWriter, r *http.Request, message string, status int, near []Near) {
	if WantsPage(r) {
		data := errorData{Title: http.StatusText(status), Message: query.Capitalize(message), Near: near}
		if s.ServePage(w, r, pages, web.View{Page: "error.html", Status: status, Data: data}) == nil {
			return
		}
	}
	http.Error(w, message, status)
}

// WantsPage reports whether a browser shows what is wrong to a person. The API says it in
// the same way to everyone.
func WantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, apiPrefix)
}
