package redact

import (
	"net/url"
	"strings"
	"unicode"
)

const (
	// Hidden stands in the place of an address that cannot be shown at all.
	Hidden = "(address hidden)"
	// Word stands in the place of one secret.
	Word = "REDACTED"
)

// URL returns an address without its secrets: a URL, git's user@host:path, or a
// path, which is returned as it is. It expects the address and nothing else;
// Text is for addresses inside of prose.
func URL(address string) string {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return Hidden
		}
		return show(u)
	}
	return scp(address)
}

// show returns a parsed URL without its secrets.
func show(u *url.URL) string {
	if u.Scheme == "" || u.Opaque != "" || u.Host == "" && u.Scheme != "file" || strings.Contains(u.Path, "://") || cutShort(u) {
		return Hidden
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String() + query(u.RawQuery)
}

// cutShort reports whether the path of a URL may hold the rest of a password. A
// slash in a user name or password ends the authority, so the text before the
// slash is taken for the host.
func cutShort(u *url.URL) bool {
	before, after, ok := strings.Cut(u.Path, "@")
	if !ok {
		return false
	}
	host, _, _ := strings.Cut(after, "/")
	return u.User != nil || strings.Contains(u.Host, ":") || strings.Contains(before, ":") || strings.ContainsAny(host, ".:")
}

// query returns a query, with its question mark, that has the names of parameters
// and none of their values.
func query(raw string) string {
	if raw == "" {
		return ""
	}
	var out strings.Builder
	for i, part := range strings.FieldsFunc(raw, func(r rune) bool { return r == '&' || r == ';' }) {
		if i > 0 {
			out.WriteByte('&')
		}
		name, value, _ := strings.Cut(part, "=")
		if plainName(name) && strings.Trim(value, "=") != "" { // or else the name may be a secret
			out.WriteString(name + "=")
		}
		out.WriteString(Word)
	}
	return "?" + out.String()
}

// mostNameBytes is the longest name of a parameter that is shown.
const mostNameBytes = 32

// plainName reports whether text looks like the name of a parameter. Digits are
// for secrets.
func plainName(text string) bool {
	return text != "" && len(text) <= mostNameBytes && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_-.", r)
	})
}

// commonUser is the user of git@host:path, which everybody knows.
const commonUser = "git"

// scp returns user@host:path without its user.
func scp(address string) string {
	if strings.ContainsFunc(address, unicode.IsControl) || strings.Contains(address, "::") {
		return Hidden // the address of a helper is a command
	}
	head, _, _ := strings.Cut(address, "/")
	at := strings.LastIndexByte(head, '@')
	if at < 0 || !strings.Contains(head, ":") {
		return address
	}
	if user, rest, _ := strings.Cut(address, "@"); user == commonUser && !strings.Contains(rest, "@") {
		return address
	}
	return address[at+1:]
}
