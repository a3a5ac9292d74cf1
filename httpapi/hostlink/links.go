package hostlink

import (
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"github.com/trawlsearch/trawl/store"
)

// Links are the patterns of a server. The zero value has those of hosts that are known.
type Links struct {
	hosts  map[string]Pattern
	editor Pattern
}

// Parse reads patterns: hosts are HOST=KIND or HOST=PATTERN, separated by spaces or
// commas, and the editor has one pattern; "" is none.
func Parse(hosts, editor string) (l Links, err error) {
	for _, entry := range strings.FieldsFunc(hosts, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		host, pattern, ok := strings.Cut(entry, "=")
		host = strings.ToLower(host)
		if !ok || !hostName.MatchString(host) {
			return Links{}, fmt.Errorf("%.200q is no HOST=KIND or HOST=PATTERN, such as git.example.org=gitlab", entry)
		}
		p, isKind := kinds[pattern]
		if isKind {
			p = "https://" + Pattern(host) + p
		} else if p, err = parsePattern(pattern, true); err != nil {
			return Links{}, err
		}
		if l.hosts == nil {
			l.hosts = map[string]Pattern{}
		}
		l.hosts[host] = p
	}
	if editor != "" {
		l.editor, err = parsePattern(editor, false)
	}
	return l, err
}

var hostName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::[0-9]{1,5})?$`)

// Link is an address elsewhere. Pattern is the address with {line} where the number of
// a line goes, "" where it has none.
type Link struct {
	Title   string
	URL     template.URL
	Pattern string
}

// Host is where the code host shows a file, nil where that is not known.
func (l Links) Host(r *store.Repository, commit, path string, line int) *Link {
	base, host, name, err := sourceOf(r)
	if err != nil || commit == "" {
		return nil
	}
	pattern, ok := l.hosts[host]
	if !ok {
		kind := kindOf(r, host)
		if kind == "" {
			return nil
		}
		pattern = Pattern(base) + kinds[kind]
	}
	return newLink("On "+host, pattern.fill(file{name, commit, path}), line)
}

// Editor opens a file in an editor, nil where no pattern is set.
func (l Links) Editor(r *store.Repository, commit, path string, line int) *Link {
	if l.editor == "" {
		return nil
	}
	return newLink("In the editor", l.editor.fill(file{r.Name, commit, path}), max(line, 1))
}

// newLink fills in the line. Without one a fragment that would name it is left out.
func newLink(title, address string, line int) *Link {
	out := &Link{Title: title}
	if strings.Contains(address, "{line}") {
		out.Pattern = address
	}
	if before, fragment, ok := strings.Cut(address, "#"); ok && line == 0 && strings.Contains(fragment, "{line}") {
		address = before
	}
	// The pattern was checked, and what it is filled with is escaped.
	out.URL = template.URL(strings.ReplaceAll(address, "{line}", fmt.Sprint(max(line, 1))))
	return out
}

// kindOf is what runs on a host, "" if that is not known.
func kindOf(r *store.Repository, host string) string {
	if kind := known[host]; kind != "" {
		return kind
	}
	if r.Origin != nil {
		if _, ok := kinds[r.Origin.Kind]; ok {
			return r.Origin.Kind
		}
	}
	first, _, _ := strings.Cut(host, ".")
	return known[first+"."]
}

// scp is an address such as git@github.com:lab/kiln.git.
var scp = regexp.MustCompile(`^(?:[^/@:]+@)?([A-Za-z0-9.-]+):([^/].*)$`)

// sourceOf is the address of the host that a repository is fetched from, the host by
// itself, and the name of the repository there. Who signs in there is no part of it.
func sourceOf(r *store.Repository) (base, host, name string, err error) {
	if !r.Mirror {
		return "", "", "", errNoLink
	}
	source := r.Source
	u, err := url.Parse(source)
	if err == nil && u.Host != "" {
		base, host, name = "https://"+u.Hostname(), u.Hostname(), u.Path
		switch u.Scheme {
		case "http", "https":
			base, host = u.Scheme+"://"+u.Host, u.Host
		case "ssh", "git", "git+ssh":
		default:
			return "", "", "", errNoLink
		}
	} else if m := scp.FindStringSubmatch(source); m != nil && !strings.Contains(source, "://") {
		base, host, name = "https://"+m[1], m[1], m[2]
	}
	name, host = strings.TrimSuffix(strings.Trim(name, "/"), ".git"), strings.ToLower(host)
	if name == "" || !hostName.MatchString(host) {
		return "", "", "", errNoLink
	}
	return strings.ToLower(base), host, name, nil
}
