package httpapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// pageFiles holds the templates and the style that is put into each page.
//
//go:embed pages
var pageFiles embed.FS

var (
	pageTemplates = template.Must(template.ParseFS(pageFiles, "pages/*.html"))
	pageStyle     = mustRead("pages/style.css")
	// pagePolicy allows that one style and nothing else: no script, no frame,
	// no other origin. formPolicy allows forms besides.
	pagePolicy = policy("'none'")
	formPolicy = policy("'self'")
)

func mustRead(name string) string {
	data, err := pageFiles.ReadFile(name)
	if err != nil {
		panic("httpapi: missing page file: " + err.Error())
	}
	return string(data)
}

func policy(formAction string) string {
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action %s; frame-ancestors 'none'",
		styleHash(pageStyle), formAction)
}

func styleHash(style string) string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// page is what every template is given.
type page struct {
	Style template.CSS
	Data  any
}

// servePage answers with a template.
func servePage(w http.ResponseWriter, name string, data any) error {
	return serveTemplate(w, http.StatusOK, pagePolicy, name, data)
}

// serveForm answers with a template that has forms.
func serveForm(w http.ResponseWriter, status int, name string, data any) error {
	return serveTemplate(w, status, formPolicy, name, data)
}

// serveTemplate renders first, so that an error can still become the answer.
func serveTemplate(w http.ResponseWriter, status int, policy, name string, data any) error {
	var out bytes.Buffer
	err := pageTemplates.ExecuteTemplate(&out, name, page{template.CSS(pageStyle), data})
	if err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // a client that is gone misses nothing
	return nil
}

// indexData is what the page at / shows.
type indexData struct {
	Base   string
	Routes []Route
}

// serveIndex lists the surface for whoever opens the address in a browser.
func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request) error {
	data := indexData{Base: s.baseURL(r)}
	for _, route := range s.routes() {
		if route.About != "" {
			data.Routes = append(data.Routes, route)
		}
	}
	return servePage(w, "index.html", data)
}

// Link reports whether the route can be opened as it stands.
func (r Route) Link() bool { return r.Method == http.MethodGet && !strings.Contains(r.Path, "{") }
