package worldtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Listen serves a handler until the test ends.
func (w *World) Listen(h http.Handler) {
	s := httptest.NewServer(h)
	w.Cleanup(s.Close)
	w.URL, w.Client = s.URL, s.Client()
}

// Send sends a request to what Listen serves, with headers as name, value, and returns
// the answer with its body. The path is sent as it stands.
func (w *World) Send(method, path, body string, headers ...string) (*http.Response, string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.URL+path, strings.NewReader(body))
	w.Must(err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.Client.Do(r)
	w.Must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, string(text)
}

// As is the header of a user's token, none for "".
func (w *World) As(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"Authorization", "token " + w.Tokens[name]}
}

// Serve has a handler answer a request from the same machine, with headers as name, value.
func Serve(h http.Handler, method, target, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1234"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}
