package auth

import (
	"encoding/base64"
	"errors"
	"strings"
)

// credential is the credential of a request, not looked up yet.
type credential struct {
	kind credentialKind
	// secret is the token, session or bearer token as it stands there.
	secret string
	// as is the name of the user to act as, "" for the token's own.
	as string
	// ambient says that a browser may have sent it on its own.
	ambient bool
}

type credentialKind int

const (
	noCredential credentialKind = iota
	accessToken
	bearerToken
	sessionCookie
	// vouchedUser is the name of a user whom a trusted proxy has signed in.
	vouchedUser
)

// errMalformed is a header with a scheme that we know and no use.
var errMalformed = errors.New("malformed Authorization header")

// parseAuthorization reads the value of an Authorization header:
//
//	token TOKEN
//	token token="TOKEN"
//	token-sudo user="NAME",token="TOKEN"
//	Bearer TOKEN
//	Basic base64(TOKEN:anything)
//
// The scheme ends at the first space; the schemes token and token-sudo are
// compared with case. An unknown scheme, or a list with a key twice, is no
// credential and no error either.
func parseAuthorization(header string) (credential, error) {
	scheme, rest, _ := strings.Cut(header, " ")
	switch {
	case scheme == "token" || scheme == "token-sudo":
		return parseTokenScheme(scheme, rest)
	case strings.EqualFold(scheme, "bearer"):
		return credential{kind: bearerToken, secret: rest}, nil
	case strings.EqualFold(scheme, "basic"):
		return parseBasic(rest), nil
	}
	return credential{}, nil
}

// parseBasic takes the user name for a token.
func parseBasic(rest string) credential {
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return credential{}
	}
	name, _, ok := strings.Cut(string(text), ":")
	if !ok || name == "" {
		return credential{}
	}
	return credential{kind: accessToken, secret: name, ambient: true}
}

func parseTokenScheme(scheme, rest string) (credential, error) {
	pieces := splitList(rest)
	for _, p := range pieces {
		// Without a value it is no list but a token, which may end with =.
		if !strings.Contains(p, "=") || strings.HasSuffix(p, "=") {
			token := strings.TrimSpace(rest)
			if scheme != "token" || token == "" {
				return credential{}, errMalformed
			}
			return credential{kind: accessToken, secret: token}, nil
		}
	}
	values := map[string]string{}
	for _, p := range pieces {
		key, value, _ := strings.Cut(p, "=")
		key = strings.ToLower(key)
		if _, ok := values[key]; ok {
			return credential{}, nil
		}
		var ok bool
		if values[key], ok = unquote(value); !ok {
			return credential{}, errMalformed
		}
	}
	if values["token"] == "" {
		return credential{}, errMalformed
	}
	return credential{kind: accessToken, secret: values["token"], as: values["user"]}, nil
}

// splitList splits at the commas outside of quotes and trims the pieces; an
// empty piece at the end is none.
func splitList(text string) []string {
	var pieces []string
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			pieces = append(pieces, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if last := strings.TrimSpace(text[start:]); last != "" || len(pieces) == 0 {
		pieces = append(pieces, last)
	}
	return pieces
}

// unquote returns bare text as it is, and text between quotes without its
// backslashes; ok is false for a quote alone.
func unquote(value string) (text string, ok bool) {
	if value == `"` {
		return "", false
	}
	if !strings.HasPrefix(value, `"`) || !strings.HasSuffix(value, `"`) {
		return value, true
	}
	var b strings.Builder
	inside := value[1 : len(value)-1]
	for i := 0; i < len(inside); i++ {
		if inside[i] == '\\' && i+1 < len(inside) {
			i++
		}
		b.WriteByte(inside[i])
	}
	return b.String(), true
}
