package codehost

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// JSON asks the API of a host for which there is no library that takes a context and
// knows its types.
type JSON struct {
	Client *http.Client
	// Base is the address of the API, that paths begin at.
	Base *url.URL
	// Sign adds credentials to a request; nil adds none.
	Sign func(req *http.Request)
	// Prefix stands before each answer and is no JSON, as at Gerrit.
	Prefix string
}

// mostErrorBytes is how much of a failure is read.
const mostErrorBytes = 4 << 10

// errElsewhere keeps credentials at the host that they are for.
var errElsewhere = errors.New("the host names a page at another address")

// URL returns the address of a path, whose parts are escaped, with parameters.
func (j *JSON) URL(path string, q url.Values) *url.URL {
	u := j.Base.JoinPath(path)
	u.RawQuery = q.Encode()
	return u
}

// Get asks an address of the API, and reads the answer into a value.
func (j *JSON) Get(ctx context.Context, at *url.URL, to any) error {
	if at.Scheme != j.Base.Scheme || at.Host != j.Base.Host || at.User != nil {
		return errElsewhere
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return errors.New("the address of the API does not parse")
	}
	req.Header.Set("Accept", "application/json")
	if j.Sign != nil {
		j.Sign(req)
	}
	resp, err := j.Client.Do(req)
	if err != nil {
		var limited *LimitedError
		if errors.As(err, &limited) {
			return limited
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, mostErrorBytes)) // without it the status has to do
		return Answered(resp.StatusCode, messageOf(said))
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(bytes.TrimPrefix(body, []byte(j.Prefix)), to); err != nil {
		return errors.New("the host answered with something other than the API's JSON")
	}
	return nil
}

// messageOf returns what a failure says: in JSON of the forms that hosts have, or as text
// of one line.
func messageOf(body []byte) string {
	type said struct {
		Message string `json:"message"`
	}
	var answer struct {
		said
		Error  said   `json:"error"`
		Errors []said `json:"errors"`
	}
	if json.Unmarshal(body, &answer) == nil {
		if len(answer.Errors) > 0 {
			return answer.Errors[0].Message
		}
		return cmp.Or(answer.Error.Message, answer.Message)
	}
	if line := strings.TrimSpace(string(body)); !strings.ContainsAny(line, "<>\n") {
		return line
	}
	return ""
}
