package codehost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Account is the configuration of a service of any kind of host.
type Account struct {
	// URL is where people find the host.
	URL string
	// Git is by what git signs in at the host; nil is nothing.
	Git *url.Userinfo
	// NamePattern makes the names of repositories: {host} and {nameWithOwner} stand for
	// the host and a path. "" is both with a slash between.
	NamePattern string
	// Rename changes a name that was made so; nil leaves it.
	Rename func(name string) string
	// Rules choose among the repositories.
	Rules Rules
	// Pace is the least time between two requests.
	Pace time.Duration
	// TakesReaders says that who may read a private repository is asked of the host, which
	// is one of Permissions then.
	TakesReaders bool
	// HookSecrets sign the webhooks of the host.
	HookSecrets []string
	// ReadHook reads a webhook that one of some secrets has signed, or fails with
	// ErrSignature or ErrHook.
	ReadHook func(secrets []string, header http.Header, body []byte) (Hook, error)
	// Connect returns a client of the host at a URL.
	Connect func(base *url.URL, client *http.Client) (Host, error)
}

// Common are the properties that hosts of all kinds have.
type Common struct {
	URL                   string     `json:"url"`
	Token                 string     `json:"token"`
	GitURLType            string     `json:"gitURLType"`
	Include               []Rule     `json:"include"`
	Exclude               []Rule     `json:"exclude"`
	RepositoryPathPattern string     `json:"repositoryPathPattern"`
	RateLimit             *RateLimit `json:"rateLimit"`
	Webhooks              []Webhook  `json:"webhooks"`
	// Authorization has the readers of private repositories taken from the host.
	Authorization *Authorization `json:"authorization"`
	// InitialRepositoryEnablement is read and means nothing, as with other servers.
	InitialRepositoryEnablement bool `json:"initialRepositoryEnablement"`
}

// RateLimit is how many requests may be made.
type RateLimit struct {
	Enabled         bool    `json:"enabled"`
	RequestsPerHour float64 `json:"requestsPerHour"`
}

// Webhook is what signs the hooks of an organisation, or of all.
type Webhook struct {
	Org    string `json:"org"`
	Secret string `json:"secret"`
}

// leastHookSecret keeps out what can be guessed.
const leastHookSecret = 8

// HookSecrets returns the secrets of webhooks.
func HookSecrets(all []Webhook) (out []string, err error) {
	for i, w := range all {
		if len(w.Secret) < leastHookSecret {
			return nil, fmt.Errorf("webhooks, entry %d: the secret is shorter than %d characters", i+1, leastHookSecret)
		}
		out = append(out, w.Secret)
	}
	return out, nil
}

// Account checks what all kinds have in common.
func (c *Common) Account() (*Account, error) {
	a := &Account{URL: c.URL, NamePattern: c.RepositoryPathPattern}
	var err error
	switch {
	case c.URL == "":
		return nil, errors.New("url is missing: it says which host to ask")
	case c.GitURLType != "" && c.GitURLType != "http":
		return nil, errors.New("gitURLType: repositories are fetched over HTTP only, with the token: leave it out")
	case strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, errors.New("token: it holds a space or a control character")
	case a.NamePattern != "" && !strings.Contains(a.NamePattern, "{nameWithOwner}"):
		return nil, errors.New("repositoryPathPattern: it lacks {nameWithOwner}, so that all repositories would have the same name")
	}
	if l := c.RateLimit; l != nil && l.Enabled {
		if l.RequestsPerHour < 1 {
			return nil, errors.New("rateLimit: requestsPerHour is less than 1")
		}
		a.Pace = time.Duration(float64(time.Hour) / l.RequestsPerHour)
	}
	if a.HookSecrets, err = HookSecrets(c.Webhooks); err != nil {
		return nil, err
	}
	a.TakesReaders = c.Authorization != nil
	if a.TakesReaders && c.Token == "" {
		return nil, errors.New("authorization: it needs a token: who may read a repository is not public")
	}
	a.Rules, err = CompileRules(c.Include, c.Exclude)
	return a, err
}

// Name returns the name of a repository.
func (a *Account) Name(host, path string) string {
	pattern := a.NamePattern
	if pattern == "" {
		pattern = "{host}/{nameWithOwner}"
	}
	name := strings.Trim(strings.NewReplacer("{host}", host, "{nameWithOwner}", path).Replace(pattern), "/")
	if a.Rename != nil {
		name = a.Rename(name)
	}
	return name
}

// mostPartBytes is how long a part of a path may be.
const mostPartBytes = 255

// PlainPath reports whether text can be the path of a repository, a group or a user at a
// host: parts of letters, digits and few other characters, with a slash between.
func PlainPath(text string) bool {
	for part := range strings.SplitSeq(text, "/") {
		if part == "" || part == "." || part == ".." || len(part) > mostPartBytes || strings.HasPrefix(part, "-") {
			return false
		}
		if strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~+", r)
		}) {
			return false
		}
	}
	return true
}

// PlainName reports whether text can be a path of one part.
func PlainName(text string) bool { return PlainPath(text) && !strings.Contains(text, "/") }

// OwnerAndName reports whether text is an owner and a name.
func OwnerAndName(text string) bool { return PlainPath(text) && strings.Count(text, "/") == 1 }

// PropertyError names a property that is not allowed, in words that clients
// look for.
type PropertyError string

func (p PropertyError) Error() string { return "Additional property " + string(p) + " is not allowed" }

// Decode reads a configuration, plain JSON. Its errors show no value.
func Decode(plain []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(plain))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return fmt.Errorf("%s: it has to be of another type than %s", kind.Field, kind.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return PropertyError(strings.Trim(name, `"`))
	}
	return errors.New("the configuration is no JSON object")
}

// ID is an identifier, which a configuration has as a text or as a number.
type ID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *ID) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*id = ID(text)
		return nil
	}
	var number json.Number
	if json.Unmarshal(b, &number) != nil {
		return errors.New("an id is a text or a number")
	}
	*id = ID(number.String())
	return nil
}
