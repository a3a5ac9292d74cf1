package gerrit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// Kind is the kind of these services.
const Kind = "GERRIT"

// settings is the configuration of a service.
type settings struct {
	codehost.Common
	// Username and Password sign in, the password being the one for HTTP; Token may stand
	// for it.
	Username string `json:"username"`
	Password string `json:"password"`
	// Projects are names; without one all is listed.
	Projects []string `json:"projects"`
}

const (
	// pageSize is how many projects a page has, if the host gives as many.
	pageSize = 500
	// magic stands before each answer, so that no browser runs it.
	magic = ")]}'"
	// namePlaceholder is the name of a project, as names have it at other servers.
	namePlaceholder = "{name}"
)

// Parse reads a configuration, plain JSON.
func Parse(plain []byte) (*codehost.Account, error) {
	var s settings
	if err := codehost.Decode(plain, &s); err != nil {
		return nil, err
	}
	s.RepositoryPathPattern = strings.ReplaceAll(s.RepositoryPathPattern, namePlaceholder, "{nameWithOwner}")
	s.Token = cmp.Or(s.Token, s.Password)
	a, err := s.Account()
	if err != nil {
		return nil, err
	}
	switch {
	case a.TakesReaders:
		return nil, errors.New("authorization: Gerrit has rules for each branch and no list of who may read a project: set readers here")
	case (s.Username == "") != (s.Token == ""):
		return nil, errors.New("give username and password, or none of them")
	case strings.ContainsAny(s.Username, ":\r\n"):
		return nil, errors.New("username: it holds a colon or a line break")
	case s.Username == "" && len(s.Projects) == 0:
		return nil, errors.New("it names no repositories: give projects, or username and password to list what the account sees")
	}
	for _, name := range s.Projects {
		if !codehost.PlainPath(name) {
			return nil, fmt.Errorf("projects: %q is no name of a project", name)
		}
	}
	if s.Username != "" {
		a.Git = url.UserPassword(s.Username, s.Token)
	}
	a.ReadHook = func([]string, http.Header, []byte) (codehost.Hook, error) {
		return codehost.Hook{}, codehost.ErrSignature // Gerrit signs nothing: its events come by the generic webhook
	}
	a.Connect = func(base *url.URL, client *http.Client) (codehost.Host, error) {
		h := &host{settings: &s, base: base, api: &codehost.JSON{Client: client, Base: base, Prefix: magic}}
		if s.Username != "" {
			h.base = base.JoinPath("a") // where requests have to sign in
			h.api.Base, h.api.Sign = h.base, func(req *http.Request) { req.SetBasicAuth(s.Username, s.Token) }
		}
		return h, nil
	}
	return a, nil
}

// host is an account of Gerrit.
type host struct {
	*settings
	base *url.URL
	api  *codehost.JSON
}

// project is what the API says of a project.
type project struct {
	// Name is missing in lists, whose members it names.
	Name         string `json:"name"`
	Description  string `json:"description"`
	State        string `json:"state"`
	MoreProjects bool   `json:"_more_projects"`
}

// List implements codehost.Host.
func (h *host) List(ctx context.Context, _ codehost.Known) (codehost.Listing, error) {
	var parts []codehost.Part
	for _, name := range h.Projects {
		parts = append(parts, codehost.Part{Name: "project " + name, Read: func(ctx context.Context, r *codehost.Reading) error { return h.one(ctx, r, name) }})
	}
	if len(h.Projects) == 0 {
		parts = append(parts, codehost.Part{Name: "projects", Read: h.all})
	}
	r, err := codehost.ReadParts(ctx, parts)
	return r.Listing, err
}

// all reads all pages of the list of projects with code, which the host sorts by name.
func (h *host) all(ctx context.Context, r *codehost.Reading) error {
	for start := 0; ; {
		q := url.Values{"d": {""}, "type": {"CODE"}, "n": {strconv.Itoa(pageSize)}, "S": {strconv.Itoa(start)}}
		page := map[string]project{}
		if err := h.api.Get(ctx, h.api.URL("projects/", q), &page); err != nil {
			return err
		}
		more := false
		for _, name := range slices.Sorted(maps.Keys(page)) {
			p := page[name]
			p.Name = name
			more = more || p.MoreProjects
			if err := h.take(r, p); err != nil {
				return err
			}
		}
		if start += len(page); !more {
			return ctx.Err()
		}
	}
}

func (h *host) one(ctx context.Context, r *codehost.Reading, name string) error {
	var p project
	switch err := h.api.Get(ctx, h.api.URL("projects/"+url.PathEscape(name), nil), &p); {
	case codehost.NotThere(err):
		r.Missing(name)
		return nil
	case err != nil:
		return err
	}
	p.Name = cmp.Or(p.Name, name)
	return h.take(r, p)
}

// The states of projects beside the usual one.
const (
	readOnly = "READ_ONLY"
	hidden   = "HIDDEN"
)

// take adds a project. Its name is what it is for as long as it exists. Who sees it is
// not a property of it: what the host shows to an account only is private.
func (h *host) take(r *codehost.Reading, p project) error {
	if p.Name == "" || p.State == hidden {
		return nil
	}
	at := *h.base
	at.Path, at.RawPath = strings.TrimSuffix(at.Path, "/")+"/"+p.Name, ""
	return r.Take(codehost.Repository{
		ID: url.PathEscape(p.Name), Path: p.Name, CloneURL: at.String(), Description: p.Description, Archived: p.State == readOnly, Private: h.Username != "",
	})
}
