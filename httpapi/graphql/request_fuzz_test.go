package graphql

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/trawlsearch/trawl/httpapi"
)

// FuzzRequest: whatever is sent, plain or as gzip, is a request or refused with a
// status of the client's; what is taken plain is taken packed as well.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"query":"{ site { id } }","operationName":null,"variables":{"a":[1,{"b":"\"["}]}}`))
	f.Add([]byte(`{"variables":[]}`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, body []byte) {
		read := func(coding string, body []byte) (request, bool) {
			t.Helper()
			r := httptest.NewRequest(http.MethodPost, "/.api/graphql", bytes.NewReader(body))
			r.Header.Set("Content-Encoding", coding)
			got, err := readRequest(r)
			var refused *httpapi.Error
			if err != nil && (!errors.As(err, &refused) || refused.Status < 400 || refused.Status > 499) {
				t.Fatalf("%s body %q: %v, want a refusal", coding, body, err)
			}
			if err == nil && got.Variables == nil {
				t.Errorf("%s body %q: no variables", coding, body)
			}
			return got, err == nil
		}
		read("gzip", body)
		plain, taken := read("identity", body)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		again, also := read("gzip", packed.Bytes())
		if also != taken || again.Query != plain.Query || again.OperationName != plain.OperationName || len(again.Variables) != len(plain.Variables) {
			t.Errorf("body %q: plain %+v, %v, packed %+v, %v", body, plain, taken, again, also)
		}
	})
}
