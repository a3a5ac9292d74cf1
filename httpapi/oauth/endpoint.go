package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/ory/fosite"
	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// maxFormBytes bounds what a request may say.
const maxFormBytes = 16 << 10

// endpointHandler answers a client, whose form has been read into r.PostForm,
// with what it returns, as JSON; nil is an empty answer.
type endpointHandler func(r *http.Request) (any, error)

// endpoint answers programs: with JSON that no proxy may cache, errors too (RFC
// 6749, section 5).
func (s *Server) endpoint(h endpointHandler) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var answer any
		err := readForm(w, r)
		if err == nil {
			answer, err = h(r)
		}
		if err != nil {
			return answerError(w, r, err)
		}
		return serveJSON(w, http.StatusOK, answer)
	}
}

func serveJSON(w http.ResponseWriter, status int, answer any) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	if answer == nil {
		w.WriteHeader(status)
		return nil
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that is gone misses nothing
	return nil
}

// readForm reads the form of a client. Each parameter may stand there once
// (RFC 6749, section 3.2), and secrets in one place (section 2.3).
func readForm(w http.ResponseWriter, r *http.Request) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/x-www-form-urlencoded" {
		return fosite.ErrInvalidRequest.WithHint("The body must be application/x-www-form-urlencoded.")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return fosite.ErrInvalidRequest.WithHint("The form cannot be read, or is too long.").WithWrap(err)
	}
	if name := repeated(r.PostForm); name != "" {
		return fosite.ErrInvalidRequest.WithHint("A parameter stands there more than once.")
	}
	if id, _, ok := r.BasicAuth(); ok {
		id, err := url.QueryUnescape(id)
		if err != nil || r.PostForm.Has("client_secret") || r.PostForm.Has("client_id") && r.PostForm.Get("client_id") != id {
			return fosite.ErrInvalidRequest.WithHint("The client must authenticate in one way only.")
		}
	}
	return nil
}

// repeated returns a parameter that stands there more than once, or "".
func repeated(form url.Values) string {
	for name, values := range form {
		if len(values) > 1 {
			return name
		}
	}
	return ""
}

// refusal is an error as clients read it.
type refusal struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// refusalOf makes a refusal of an error about a request with this form. Only
// the library's own errors, and those about grants, are shown; any other is a
// server_error.
func refusalOf(err error, form url.Values) refusal {
	switch {
	case errors.Is(err, kept.ErrReused), errors.Is(err, kept.ErrNoGrant):
		err = fosite.ErrInvalidGrant
	case errors.Is(err, kept.ErrFull):
		err = fosite.ErrTemporarilyUnavailable.WithHint(kept.ErrFull.Error())
	}
	rfc := fosite.ErrorToRFC6749Error(err)
	var known *fosite.RFC6749Error
	if !errors.As(err, &known) || rfc.ErrorField == fosite.ErrServerError.ErrorField {
		return refusal{status: http.StatusInternalServerError, Code: fosite.ErrServerError.ErrorField}
	}
	out := refusal{rfc.CodeField, rfc.ErrorField, printable(withoutValues(rfc.GetDescription(), form))}
	if out.status == http.StatusForbidden { // section 5.2 has 400 for all
		out.status = http.StatusBadRequest
	}
	return out
}

// leastSecret is less than any secret has, and more than parameters and scopes
// have that are worth repeating.
const leastSecret = 24

// withoutValues leaves out the values of the request: a client may have put a
// secret where a scope belongs.
func withoutValues(text string, form url.Values) string {
	for _, values := range form {
		for _, word := range strings.Fields(strings.Join(values, " ")) {
			if len(word) >= leastSecret {
				text = strings.ReplaceAll(text, word, "...")
			}
		}
	}
	return text
}

// printable keeps the characters that a description may hold (RFC 6749, section
// 5.2).
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, text)
}

// logCause logs the cause of an error that the client does not see. The
// library's errors hide it by default.
func logCause(r *http.Request, err error) {
	var known *fosite.RFC6749Error
	if errors.As(err, &known) && known.Debug() != "" {
		err = fmt.Errorf("%w: %s", err, known.Debug())
	}
	zerolog.Ctx(r.Context()).Error().Err(err).Msg("OAuth request")
}

func answerError(w http.ResponseWriter, r *http.Request, err error) error {
	out := refusalOf(err, r.PostForm)
	switch out.status {
	case http.StatusInternalServerError:
		logCause(r, err)
	case http.StatusUnauthorized:
		w.Header().Set("Www-Authenticate", `Basic realm="OAuth"`)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "60")
	}
	return serveJSON(w, out.status, out)
}
