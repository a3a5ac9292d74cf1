package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Answer is one search as a client saw it.
type Answer struct {
	// First is when the first matches event had arrived, 0 if none did; Done
	// when the last byte had. Both count from before the request was sent.
	First time.Duration `json:"firstNanos"`
	Done  time.Duration `json:"doneNanos"`
	// ServerMillis is the duration that the server reports.
	ServerMillis int `json:"serverMillis"`
	// Results is the server's result count.
	Results int `json:"results"`
	// Bytes is how much was received.
	Bytes int64 `json:"bytes"`
	// Incomplete lists the reasons why something was not searched.
	Incomplete []string `json:"incomplete,omitempty"`
	// Trace is the link to the record of the work, empty if none was given.
	Trace string `json:"-"`
}

// asker sends queries to one server.
type asker struct {
	client http.Client
	base   string
	token  string
}

// newAsker returns an asker whose connections stay open between queries, as a
// client's do, and which takes text as it comes: unpacking gzip would be
// measured as the server's time.
func newAsker(base, token string) *asker {
	return &asker{client: newClient(), base: base, token: token}
}

// newClient returns a client that keeps as many connections as there may be
// searches at once.
func newClient() http.Client {
	return http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256}}
}

func (a *asker) close() { a.client.CloseIdleConnections() }

func (a *asker) get(ctx context.Context, rawURL string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return nil, err
	}
	if a.token != "" {
		req.Header.Set("Authorization", "token "+a.token)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return nil, fmt.Errorf("get %s: %w", rawURL, &statusError{resp.StatusCode, resp.Status, strings.TrimSpace(string(text))})
	}
	return resp, nil
}

// statusError is an answer of a server that will not do what it was asked for.
type statusError struct {
	code         int
	status, text string
}

func (e *statusError) Error() string { return e.status + ": " + e.text }

// unavailable reports whether a server has answered that it cannot tell now.
func unavailable(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusServiceUnavailable
}

// credentialEnded is the reason for what a search lacks whose credential ended meanwhile,
// or that of a node which could not confirm it any more.
const credentialEnded = "credential-ended"

// endedEarly returns an error of an answer that ended before its search did, which is one
// that cannot tell.
func endedEarly(a Answer) error {
	for _, why := range a.Incomplete {
		if strings.HasPrefix(why, credentialEnded+": ") {
			return &statusError{http.StatusServiceUnavailable, "the answer ended early", why}
		}
	}
	return nil
}

// search sends text and reads the stream to its end. The data of each matches
// event goes to onMatches, if set, after its arrival was noted; it is valid
// during the call. Without, the stream is only skimmed, which is what is to be
// timed.
func (a *asker) search(ctx context.Context, text, patternType string, onMatches func([]byte) error) (Answer, error) {
	params := url.Values{
		"q": {text}, "v": {"V3"}, "t": {patternType}, "cm": {"true"}, "cl": {"0"},
	}
	if onMatches != nil {
		params.Set("trace", "true")
	}
	start := time.Now()
	resp, err := a.get(ctx, a.base+"/.api/search/stream?"+params.Encode())
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	var answer Answer
	if onMatches == nil {
		answer, err = skimAnswer(resp.Body, start)
	} else {
		answer, err = readAnswer(resp.Body, start, onMatches)
	}
	if err != nil {
		return answer, fmt.Errorf("search %q: %w", text, err)
	}
	return answer, nil
}

func readAnswer(body io.Reader, start time.Time, onMatches func([]byte) error) (Answer, error) {
	var (
		a        Answer
		progress []byte
		alert    error
		events   = newEventReader(body)
	)
	for {
		err := events.next()
		switch {
		case errors.Is(err, io.EOF):
			return a, errors.New("stream ended without a done event")
		case err != nil:
			return a, err
		}
		a.Bytes += int64(len(events.data))
		switch events.name {
		case "matches":
			if a.First == 0 {
				a.First = time.Since(start)
			}
			if onMatches != nil {
				if err := onMatches(events.data); err != nil {
					return a, err
				}
			}
		case "progress":
			progress = append(progress[:0], events.data...)
		case "alert":
			// That is what a wrong query gets; with good ones it
			// means that the answer cannot be compared.
			alert = newAlertError(events.data)
		case "error":
			return a, fmt.Errorf("server sent error: %.300s", events.data)
		case "done":
			a.Done = time.Since(start)
			// Only a connection that was read to its end serves again.
			if _, err := io.Copy(io.Discard, events.in); err != nil {
				return a, fmt.Errorf("after the done event: %w", err)
			}
			if err := a.readProgress(progress); err != nil && alert == nil {
				return a, err
			}
			return a, alert
		}
	}
}

// alertError is an alert of a server, whose answer is read nevertheless.
type alertError struct{ title, data string }

func newAlertError(data []byte) *alertError {
	var alert struct{ Title string }
	if err := json.Unmarshal(data, &alert); err != nil {
		alert.Title = err.Error()
	}
	return &alertError{alert.Title, fmt.Sprintf("%.300s", data)}
}

func (e *alertError) Error() string { return "server sent alert: " + e.data }

// unsearchable is the alert about files without text, in answers without
// results. Their list is asked for beforehand, and no peer is compared on them.
const unsearchable = "content-unsearchable"

// readProgress takes over the counts of the last progress event.
func (a *Answer) readProgress(data []byte) error {
	var p struct {
		Done       bool   `json:"done"`
		MatchCount int    `json:"matchCount"`
		DurationMs int    `json:"durationMs"`
		Trace      string `json:"trace"`
		Skipped    []struct {
			Reason string `json:"reason"`
			Title  string `json:"title"`
		} `json:"skipped"`
	}
	if len(data) == 0 {
		return errors.New("stream had no progress event")
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("decode progress %.200q: %w", data, err)
	}
	if !p.Done {
		return errors.New("last progress event was not done")
	}
	a.Results, a.ServerMillis, a.Trace = p.MatchCount, p.DurationMs, p.Trace
	for _, s := range p.Skipped {
		if s.Reason == unsearchable {
			continue
		}
		a.Incomplete = append(a.Incomplete, s.Reason+": "+s.Title)
	}
	return nil
}
