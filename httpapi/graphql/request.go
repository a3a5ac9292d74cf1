package graphql

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
)

// What a request may hold. The limit of bytes is for the body as it was sent
// and for what it unpacks to; that of values keeps a list of zeros from
// becoming a hundred times as large.
const (
	maxBodyBytes = 2 << 20
	maxValues    = 100_000
)

// request is a decoded request.
type request struct {
	Query         string
	OperationName string
	Variables     map[string]any
	// variableBytes is how long the variables were, or a little more.
	variableBytes int
}

// requestBody is the body of a request; other members, and whatever stands
// behind it, are ignored.
type requestBody struct {
	Query         *string        `json:"query"`
	OperationName *string        `json:"operationName"`
	Variables     map[string]any `json:"variables"`
}

// readRequest reads a request. The content type does not matter: people send
// JSON with curl as if it were a form.
func readRequest(r *http.Request) (request, error) {
	text, err := readBody(r)
	if err != nil {
		return request{}, err
	}
	if countValues(text) > maxValues {
		return request{}, &httpapi.Error{Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("the variables hold more than %d values", maxValues)}
	}
	b := requestBody{Variables: map[string]any{}}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&b); err != nil {
		message := `the request body is not a JSON object such as {"query": "…"}`
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field == "variables" {
			message = "variables must be an object or null"
		}
		return request{}, &httpapi.Error{Status: http.StatusBadRequest, Message: message, Cause: err}
	}
	out := request{Variables: b.Variables}
	if b.Variables == nil {
		out.Variables = map[string]any{}
	}
	if b.Query != nil {
		out.Query = *b.Query
	}
	out.variableBytes = max(len(text)-len(out.Query), 0)
	if b.OperationName != nil {
		out.OperationName = *b.OperationName
	}
	return out, nil
}

// readBody reads and unpacks a body.
func readBody(r *http.Request) ([]byte, error) {
	body := io.Reader(&capped{r: r.Body, left: maxBodyBytes})
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, bodyError(err)
		}
		body = &capped{r: z, left: maxBodyBytes}
	default:
		return nil, &httpapi.Error{Status: http.StatusUnsupportedMediaType,
			Message: fmt.Sprintf("content encoding %.50q is not known: send the body plain or with gzip", coding)}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, bodyError(err)
	}
	return text, nil
}

// countValues counts the values of a JSON text, or a few more, without
// unpacking any.
func countValues(raw []byte) int {
	n, text := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			text = !text
		case text && c == '\\':
			i++
		case !text && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// errTooLarge says that a body goes on beyond maxBodyBytes.
var errTooLarge = errors.New("body too large")

// bodyError tells what is wrong with a body.
func bodyError(err error) error {
	if errors.Is(err, errTooLarge) {
		return &httpapi.Error{Status: http.StatusRequestEntityTooLarge, Cause: err,
			Message: fmt.Sprintf("the request body is larger than %d MiB", maxBodyBytes>>20)}
	}
	message := "the request body could not be read"
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the request body is not gzip, or not whole"
	}
	return &httpapi.Error{Status: http.StatusBadRequest, Message: message, Cause: err}
}

// capped fails with errTooLarge when there is more to read than left.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return n, errTooLarge
	}
	return n, err
}

// plainName is what clients call their requests and operations; tokens have
// more digits.
var plainName = regexp.MustCompile(`^[A-Za-z]{1,60}[0-9]?$`)

// requestName is what stands behind the question mark, or another name that a
// client gave, for the log: people write names there, but could write anything.
func requestName(given string) string {
	name := strings.TrimSuffix(given, "=")
	switch {
	case name == "":
		return "unknown"
	case plainName.MatchString(name):
		return name
	}
	return "other"
}
