package git

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// remote is a repository URL taken apart: what may stand in a command line, a
// configuration file or an error, and what may not.
type remote struct {
	url        string // without password; an absolute path for a local repository
	transports string // what git may use to reach it
	local      bool
	// proxy is the URL of the one way there is to reach it, "" for any.
	proxy string

	// For HTTP, where the credentials are valid and what they are.
	origin   string // such as "https://example.org:8443"
	username string
	password string
}

// schemes maps what a URL may begin with to the transports it needs. http may
// be answered by a redirect to https, never the reverse.
var schemes = map[string]string{
	"https":   "https",
	"http":    "http:https",
	"ssh":     "ssh",
	"git+ssh": "ssh",
	"ssh+git": "ssh",
	"git":     "git",
	"file":    "file",
}

var (
	schemeURL = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	// helperURL is git's syntax for handing a URL to a program of the user's
	// choice: ext::sh -c …, fd::3.
	helperURL = regexp.MustCompile(`^[A-Za-z0-9+._-]+::`)
	// scpURL is user@host:path, with no slash before the colon.
	scpURL = regexp.MustCompile(`^(?:[^/:]*@)?([^/:@]+):`)
)

// parseRemote decides what a URL is and refuses what is not plainly a
// repository. Its errors show the URL without a password.
func parseRemote(rawURL string) (remote, error) {
	switch {
	case strings.TrimSpace(rawURL) == "":
		return remote{}, fmt.Errorf("%w: it is empty", ErrURL)
	case rawURL[0] == '-':
		return remote{}, urlError(rawURL, "it begins with a dash")
	case strings.ContainsFunc(rawURL, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return remote{}, urlError(rawURL, "it holds a control character")
	case helperURL.MatchString(rawURL):
		return remote{}, urlError(rawURL, "remote helpers are not allowed; use https, http, ssh, git, or a local path")
	}
	if m := schemeURL.FindStringSubmatch(rawURL); m != nil {
		return parseSchemeURL(rawURL, strings.ToLower(m[1]))
	}
	if m := scpURL.FindStringSubmatch(rawURL); m != nil {
		if m[1][0] == '-' {
			return remote{}, urlError(rawURL, "the host begins with a dash")
		}
		return remote{url: rawURL, transports: "ssh"}, nil
	}
	abs, err := filepath.Abs(rawURL)
	if err != nil {
		return remote{}, fmt.Errorf("repository path %s: %w", rawURL, err)
	}
	return remote{url: abs, transports: "file", local: true}, nil
}

func parseSchemeURL(rawURL, scheme string) (remote, error) {
	transports, ok := schemes[scheme]
	if !ok {
		return remote{}, urlError(rawURL, fmt.Sprintf("%q is not supported; use https, http, ssh, git, or a local path", scheme))
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return remote{}, urlError(rawURL, "it does not parse") // err would show the password
	}
	if scheme == "file" {
		return remote{url: u.String(), transports: transports, local: true}, nil
	}
	if u.Hostname() == "" || u.Hostname()[0] == '-' {
		return remote{}, urlError(rawURL, "it names no host")
	}
	r := remote{transports: transports}
	user := u.User
	u.User = nil
	r.origin = scheme + "://" + u.Host
	if user != nil {
		r.username = user.Username()
		r.password, _ = user.Password()
	}
	if scheme != "http" && scheme != "https" && r.username != "" {
		if r.username[0] == '-' {
			return remote{}, urlError(rawURL, "the user begins with a dash")
		}
		u.User = url.User(r.username) // ssh needs it, and knows no passwords
	}
	r.url = u.String()
	return r, nil
}

func urlError(rawURL, reason string) error {
	return fmt.Errorf("%w %q: %s", ErrURL, printable(rawURL), reason)
}

// credentialHelper answers git's question for a user name and password from
// the environment, where other users of the machine cannot read them.
const credentialHelper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$TRAWL_GIT_USERNAME" "$TRAWL_GIT_PASSWORD"; }; f`

// credentials returns the configuration and environment by which git can log
// in to the remote, and nowhere else.
func (r remote) credentials() (args, env []string) {
	if r.username == "" && r.password == "" || !strings.HasPrefix(r.origin, "http") {
		return nil, nil
	}
	return []string{"-c", "credential." + r.origin + ".helper=" + credentialHelper},
		[]string{"TRAWL_GIT_USERNAME=" + r.username, "TRAWL_GIT_PASSWORD=" + r.password}
}

// uploadPack is the program that serves a local repository, told not to mind
// whose files they are. Configuration does not reach it otherwise.
func (r remote) uploadPack() []string {
	if !r.local {
		return nil
	}
	return []string{"--upload-pack=git -c safe.directory='*' " + strings.Join(frugal, " ") + " upload-pack"}
}
