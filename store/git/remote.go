package git

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/trawlsearch/trawl/store/redact"
)

// remote is a repository URL taken apart: what may stand in a command line, a
// configuration file or an error, and what may not.
type remote struct {
	url        string // without password; an absolute path for a local repository
	address    string // as it was given, with its secrets
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

// String returns the address without its secrets.
func (r remote) String() string { return redact.URL(r.url) }

// CheckURL says why an address cannot be that of a repository, or nothing.
func CheckURL(rawURL string) error {
	_, err := parseRemote("", rawURL)
	return err
}

// parseRemote decides what a URL is and refuses what is not plainly a
// repository, or not plainly one that is reached through the proxy if there is one.
// Its errors show the URL without its secrets.
func parseRemote(proxy, rawURL string) (remote, error) {
	r, err := parseAddress(rawURL)
	switch {
	case err != nil:
		return remote{}, err
	case proxy != "" && (r.local || !strings.HasPrefix(r.origin, "http")):
		return remote{}, urlError(rawURL, "only https and http can be used here")
	}
	r.address, r.proxy = rawURL, proxy
	return r, nil
}

func parseAddress(rawURL string) (remote, error) {
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
		if !plainHost(m[1]) {
			return remote{}, urlError(rawURL, wrongHost)
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
	if u.Hostname() == "" {
		return remote{}, urlError(rawURL, "it names no host")
	}
	if !plainHost(u.Hostname()) {
		return remote{}, urlError(rawURL, wrongHost)
	}
	if strings.ContainsFunc(u.RawQuery, unicode.IsSpace) {
		return remote{}, urlError(rawURL, "it holds a space; write %20")
	}
	r := remote{transports: transports}
	user := u.User
	u.User = nil
	r.origin = scheme + "://" + u.Host
	if user != nil {
		r.username = user.Username()
		r.password, _ = user.Password()
	}
	if strings.ContainsFunc(r.username+r.password, unicode.IsControl) { // which begin other lines of git's dialogue
		return remote{}, urlError(rawURL, "its user name or password holds a control character")
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

const wrongHost = "the name of its host has characters that names of hosts do not"

// plainHost reports whether a host is a name or an IP address. Others have a
// meaning to git's configuration or to a shell: in credential.https://HOST.helper
// an equals sign ends the key and a star stands for any name.
func plainHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return !strings.ContainsRune(host, '%')
	}
	return host != "" && host[0] != '-' && !strings.ContainsFunc(host, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_.", r)
	})
}

func urlError(rawURL, reason string) error {
	return fmt.Errorf("%w %q: %s", ErrURL, printable(redact.URL(rawURL)), reason)
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
	// Unlike those of -c, the keys of --config-env may hold an equals sign.
	return []string{"--config-env=credential." + r.origin + ".helper=TRAWL_GIT_HELPER"},
		[]string{"TRAWL_GIT_HELPER=" + credentialHelper, "TRAWL_GIT_USERNAME=" + r.username, "TRAWL_GIT_PASSWORD=" + r.password}
}

// uploadPack is the program that serves a local repository, with an option to
// accept files of any owner. Configuration does not reach it otherwise.
func (r remote) uploadPack() []string {
	if !r.local {
		return nil
	}
	return []string{"--upload-pack=git -c safe.directory='*' " + strings.Join(frugal, " ") + " upload-pack"}
}

// throughProxy is the environment by which git, for whatever host, uses the
// remote's proxy; nil if it has none.
func (r remote) throughProxy() []string {
	if r.proxy == "" {
		return nil
	}
	return []string{
		"http_proxy=" + r.proxy, "https_proxy=" + r.proxy, "HTTPS_PROXY=" + r.proxy, "all_proxy=" + r.proxy, "ALL_PROXY=" + r.proxy,
		"no_proxy=", "NO_PROXY=",
	}
}
