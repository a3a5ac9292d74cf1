package hostlink

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Pattern is an address with places for what it is made of: {repository}, {commit},
// {path} and {line}.
type Pattern string

// kinds are the patterns of code hosts behind the address of the host.
var kinds = map[string]Pattern{
	"github":    "/{repository}/blob/{commit}/{path}#L{line}",
	"gitlab":    "/{repository}/-/blob/{commit}/{path}#L{line}",
	"gitea":     "/{repository}/src/commit/{commit}/{path}#L{line}",
	"bitbucket": "/{repository}/src/{commit}/{path}#lines-{line}",
}

// known are hosts, or the first parts of the names of hosts, and what runs there.
var known = map[string]string{
	"github.com": "github", "gitlab.com": "gitlab", "bitbucket.org": "bitbucket", "codeberg.org": "gitea", "gitea.com": "gitea",
	"github.": "github", "gitlab.": "gitlab", "gitea.": "gitea", "forgejo.": "gitea",
}

const maxPattern = 500

var (
	place  = regexp.MustCompile(`\{[^{}]*\}`)
	scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,30}$`)
)

// places are those that a pattern may have.
var places = []string{"{repository}", "{commit}", "{path}", "{line}"}

// refused are schemes that a browser runs, or that show what lies on the machine of the
// reader.
var refused = []string{"javascript", "data", "vbscript", "blob", "file", "about", "filesystem", "view-source"}

// parsePattern checks a pattern. One of the web has a host, which no place is in.
func parsePattern(text string, web bool) (Pattern, error) {
	wrong := func(why string) (Pattern, error) { return "", fmt.Errorf("pattern %.200q: %s", text, why) }
	if len(text) > maxPattern || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"'<>\^`+"`", r) }) {
		return wrong(fmt.Sprintf("it is longer than %d characters, or has some that no address has", maxPattern))
	}
	for _, p := range place.FindAllString(text, -1) {
		if !slices.Contains(places, p) {
			return wrong("it has the place " + p + "; there are " + strings.Join(places, ", "))
		}
	}
	u, err := url.Parse(place.ReplaceAllString(text, "x"))
	if err != nil {
		return wrong("it is no address")
	}
	switch {
	case !scheme.MatchString(u.Scheme) || slices.Contains(refused, u.Scheme):
		return wrong("it begins with no scheme, or with one that may do harm")
	case web && u.Scheme != "http" && u.Scheme != "https":
		return wrong("it must begin with https:// or http://")
	case web && u.Host == "", u.User != nil:
		return wrong("it must name a host, without a user")
	}
	if beginning, _, _ := strings.Cut(text, "{"); (u.Scheme == "http" || u.Scheme == "https") && strings.Count(beginning, "/") < 3 {
		return wrong("no place may be in the host")
	}
	if !strings.Contains(text, "{path}") {
		return wrong("it has no {path}")
	}
	return Pattern(text), nil
}

// file is what a pattern is filled with.
type file struct{ repository, commit, path string }

// fill makes an address, in which {line} is left.
func (p Pattern) fill(f file) string {
	return strings.NewReplacer("{repository}", escaped(f.repository), "{commit}", escaped(f.commit), "{path}", escaped(f.path)).Replace(string(p))
}

// escaped is a path that keeps its slashes, and nothing else that means something.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part = url.PathEscape(part); part == ".." || part == "." {
			part = strings.ReplaceAll(part, ".", "%2E")
		}
		parts[i] = part
	}
	return strings.Join(parts, "/")
}

// errNoLink says that a source has no page of a code host.
var errNoLink = errors.New("no link")
