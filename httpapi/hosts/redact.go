package hosts

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/trawlsearch/trawl/httpapi/jsonc"
	"github.com/trawlsearch/trawl/store/redact"
)

// redacted stands where a configuration has a user name and password.
const redacted = redact.Word

// Redact returns a configuration without tokens and credentials, all else as it is but for
// comments that have an address with what may be credentials: those are left out.
func Redact(text string) string {
	return editTexts(text, true, shownComment, func(text string) string {
		u, err := url.Parse(text)
		switch shown := redact.URL(text); {
		case shown == text:
			return text
		case err != nil || shown == redact.Hidden || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
			return redacted // none that ParseConfig takes
		}
		u.User = url.User(redacted)
		return u.String()
	})
}

// Restore puts the credentials of an older configuration in where a newer one,
// which a client has read and changed, has them redacted. Credentials stay with
// the scheme, host, port and path that they were saved for. It fails for an
// address with redacted credentials that are not known.
func Restore(text, old string) (string, error) {
	text, failed := restoreSecrets(text, old)
	if failed != nil {
		return text, failed
	}
	saved := map[service]*url.Userinfo{}
	editTexts(old, false, sameComment, func(text string) string {
		u, err := url.Parse(text)
		if err != nil || u.User == nil {
			return text
		}
		at := serviceOf(u)
		if other, ok := saved[at]; ok && (other == nil || other.String() != u.User.String()) {
			saved[at] = nil // there are two, of which neither is the one meant
			return text
		}
		saved[at] = u.User
		return text
	})
	out := editTexts(text, false, sameComment, func(text string) string {
		u, err := url.Parse(text)
		if err != nil || u.User == nil {
			return text
		}
		password, _ := u.User.Password()
		if u.User.Username() != redacted && password != redacted {
			return text
		}
		known := saved[serviceOf(u)]
		if known == nil || u.User.Username() != redacted && u.User.Username() != known.Username() {
			failed = fmt.Errorf("the credentials of %s are not known: write them where the address has %s", redact.URL(text), redacted)
			return text
		}
		u.User = known
		return u.String()
	})
	return out, failed
}

// service is what credentials belong to.
type service struct{ scheme, host, port, path string }

func serviceOf(u *url.URL) service {
	s := service{u.Scheme, strings.ToLower(u.Hostname()), u.Port(), u.EscapedPath()}
	if s.port == "" {
		s.port = map[string]string{"http": "80", "https": "443"}[s.scheme]
	}
	if s.path == "" {
		s.path = "/"
	}
	return s
}

// editTexts changes the texts and comments of a configuration, and hides its secrets. A configuration that does not parse is as good as empty: nothing
// of it is shown.
func editTexts(text string, hide bool, comment func(hujson.Extra) hujson.Extra, edit func(string) string) string {
	root, err := jsonc.Parse(text)
	if err != nil {
		return "{}"
	}
	if hide {
		hideSecrets(&root)
	}
	for v := range root.All() {
		v.BeforeExtra, v.AfterExtra = comment(v.BeforeExtra), comment(v.AfterExtra)
		switch t := v.Value.(type) {
		case hujson.Literal:
			if t.Kind() != '"' {
				continue
			}
			if was := t.String(); edit(was) != was {
				v.Value = hujson.String(edit(was))
			}
		case *hujson.Object:
			t.AfterExtra = comment(t.AfterExtra)
		case *hujson.Array:
			t.AfterExtra = comment(t.AfterExtra)
		}
	}
	return root.String()
}

// shownComment returns a comment if it holds no address that may have a secret, and
// does not speak of one.
func shownComment(comment hujson.Extra) hujson.Extra {
	lower := strings.ToLower(string(comment))
	for name := range secretNames {
		if strings.Contains(lower, name) {
			return nil
		}
	}
	if text := string(comment); strings.Contains(text, "://") && strings.ContainsAny(text, "@?#") || redact.Text(text) != text {
		return nil
	}
	return comment
}

func sameComment(comment hujson.Extra) hujson.Extra { return comment }
