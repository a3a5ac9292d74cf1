package gitlab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// projectQuery is a query of the API for projects: of a group, of a user, or of all.
type projectQuery struct {
	text        string
	group, user string
	options     gitlab.ListProjectsOptions
	ofGroup     gitlab.ListGroupProjectsOptions
}

// queryNone is the query for nothing.
const queryNone = "none"

// parseQuery reads a query, and returns nil for none.
func parseQuery(text string) (*projectQuery, error) {
	if text == queryNone {
		return nil, nil
	}
	path, rest, _ := strings.Cut(text, "?")
	values, err := url.ParseQuery(rest)
	if err != nil {
		return nil, errors.New("what follows ? does not parse")
	}
	q := &projectQuery{text: text}
	path = strings.Trim(path, "/")
	kind, of, _ := strings.Cut(strings.TrimSuffix(path, "/projects"), "/")
	if path != "" && path != "projects" && !strings.HasSuffix(path, "/projects") {
		return nil, errors.New("write ?membership=true, groups/lab/projects or users/ann/projects")
	}
	if of, err = url.PathUnescape(of); err != nil {
		return nil, errors.New("its path does not parse")
	}
	switch {
	case path == "" || path == "projects":
		return q, options(values, &q.options)
	case kind == "groups" && codehost.PlainPath(of):
		q.group = of
		return q, options(values, &q.ofGroup)
	case kind == "users" && codehost.PlainPath(of):
		q.user = of
		return q, options(values, &q.options)
	}
	return nil, errors.New("write ?membership=true, groups/lab/projects or users/ann/projects")
}

// ours are the parameters that a listing sets itself.
var ours = []string{"page", "per_page", "pagination", "order_by", "sort", "simple", "statistics", "page_token"}

// options sets the options of the library that parameters name, which it tags with the
// same names.
func options(values url.Values, to any) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(ours, name) {
			continue
		}
		value := values.Get(name)
		literals := []string{strconv.Quote(value)}
		if _, err := strconv.ParseInt(value, 10, 64); err == nil || value == "true" || value == "false" {
			literals = append(literals, value)
		}
		set := false
		for _, literal := range literals {
			d := json.NewDecoder(bytes.NewReader(fmt.Appendf(nil, `{%q: %s}`, name, literal)))
			d.DisallowUnknownFields()
			if set = d.Decode(to) == nil; set {
				break
			}
		}
		if !set {
			return fmt.Errorf("the parameter %s is not known, or its value is of another type", name)
		}
	}
	return nil
}
