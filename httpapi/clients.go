package httpapi

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
)

// APIVersion is what clients take for the version of the server: they decide
// by it what they may ask for, and expect three short numbers.
const APIVersion = "7.1.0"

const (
	// srcVersion is the src command that is recommended: the release by which
	// its commands were held against this server.
	srcVersion  = "6.7.1104"
	srcReleases = "https://github.com/sourcegraph/src-cli/releases/download/"
)

// srcFiles are what a release of the src command has for each system.
var srcFiles = []string{
	"src_darwin_amd64", "src_darwin_arm64", "src_linux_amd64", "src_linux_arm64", "src_windows_amd64.exe", "src_windows_arm64.exe",
}

// clientRoutes are what client programs and browsers ask about the server.
func (s sitePages) clientRoutes() []Route {
	return []Route{
		{Method: "GET", Path: "/__version", Handler: serveVersion, Access: auth.ForProbes, About: "the version of the API"},
		{Method: "HEAD", Path: "/__version", Handler: serveVersion, Access: auth.ForProbes},
		{Method: "GET", Path: "/.api/src-cli/version", Handler: serveSrcVersion, Access: auth.ForPublic, About: "the recommended version of the src command"},
		{Method: "GET", Path: "/.api/src-cli/{file}", Handler: serveSrc, Access: auth.ForPublic, About: "leads to the src command for a system, such as src_linux_amd64"},
		{Method: "GET", Path: "/.api/client-config", Handler: serveClientConfig, Access: auth.ForAnyone},
		{Method: "GET", Path: "/opensearch.xml", Handler: s.serveOpenSearch, Access: auth.ForPublic, About: "lets browsers search from their address bar"},
		{Method: "GET", Path: "/robots.txt", Handler: serveRobots, Access: auth.ForPublic},
		{Method: "GET", Path: "/-/check-username-taken/{name}", Handler: s.serveNameTaken, About: "200 if a user or organisation has the name, 404 if not"},
	}
}

func serveVersion(w http.ResponseWriter, _ *http.Request) error {
	return serveText(w, APIVersion)
}

func serveSrcVersion(w http.ResponseWriter, r *http.Request) error {
	return ServeJSON(w, r, struct {
		Version string `json:"version"`
	}{srcVersion})
}

// serveSrc leads to where the src command is to be had.
func serveSrc(w http.ResponseWriter, r *http.Request) error {
	file := mux.Vars(r)["file"]
	if !slices.Contains(srcFiles, file) {
		return &Error{Status: http.StatusNotFound, Message: "no such file"}
	}
	http.Redirect(w, r, srcReleases+srcVersion+"/"+file, http.StatusFound)
	return nil
}

// clientConfig is what editors may offer beside search.
type clientConfig struct {
	Cody          bool `json:"codyEnabled"`
	Chat          bool `json:"chatEnabled"`
	AutoComplete  bool `json:"autoCompleteEnabled"`
	Commands      bool `json:"customCommandsEnabled"`
	Attribution   bool `json:"attributionEnabled"`
	ContextWindow bool `json:"smartContextWindowEnabled"`
	Models        bool `json:"modelsAPIEnabled"`
}

// serveClientConfig answers a signed-in user that no feature is enabled.
func serveClientConfig(w http.ResponseWriter, r *http.Request) error {
	if auth.From(r.Context()).User == nil {
		return &Error{Status: http.StatusUnauthorized, Message: "Unauthorized"}
	}
	body, err := json.MarshalIndent(clientConfig{}, "", "    ")
	if err != nil {
		return fmt.Errorf("encode client configuration: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that is gone misses nothing
	return nil
}

// openSearch is a description document of OpenSearch 1.1.
type openSearch struct {
	XMLName       xml.Name      `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	ShortName     string        `xml:"ShortName"`
	Description   string        `xml:"Description"`
	InputEncoding string        `xml:"InputEncoding"`
	URL           openSearchURL `xml:"Url"`
}

type openSearchURL struct {
	Type     string `xml:"type,attr"`
	Method   string `xml:"method,attr"`
	Template string `xml:"template,attr"`
}

func (s sitePages) serveOpenSearch(w http.ResponseWriter, r *http.Request) error {
	base := s.baseURL(r)
	name := "trawl"
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		name += " (" + u.Host + ")"
	}
	body, err := xml.MarshalIndent(openSearch{
		ShortName: name, Description: "Search code with trawl", InputEncoding: "UTF-8",
		URL: openSearchURL{"text/html", "get", base + searchPath + "?q={searchTerms}"},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode OpenSearch description: %w", err)
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = io.WriteString(w, xml.Header+string(body)+"\n")
	return nil
}

// serveRobots keeps crawlers away: there is a page for each line of each
// commit.
func serveRobots(w http.ResponseWriter, _ *http.Request) error {
	return serveText(w, "User-agent: *\nDisallow: /\n")
}

// serveNameTaken reports whether a user name is taken. Only clients that may
// search get an answer, since others could find out users by it.
func (s sitePages) serveNameTaken(w http.ResponseWriter, r *http.Request) error {
	if s.Gate.Registry == nil {
		return &Error{Status: http.StatusNotFound, Message: "the name is free"}
	}
	reg, name := s.Gate.Registry(), mux.Vars(r)["name"]
	_, userErr := reg.UserNamed(name)
	_, orgErr := reg.OrgNamed(name)
	if userErr == nil || orgErr == nil {
		return serveText(w, "the name is taken\n")
	}
	if !errors.Is(userErr, store.ErrNotFound) {
		return userErr
	}
	return &Error{Status: http.StatusNotFound, Message: "the name is free"}
}
