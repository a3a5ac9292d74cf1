package codehost

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"
)

// mostSeenBytes is how much memory the compressed answers of one host may take. A page
// of a hundred repositories takes about 20 KB.
const mostSeenBytes = 16 << 20

// answers are those that a host may say are still true, which costs none of its limit
// and carries nothing. The zero value has none.
type answers struct {
	mu    sync.Mutex // guards all below
	byURL map[string]*seenAnswer
	bytes int
}

// seenAnswer is an answer with its body compressed.
type seenAnswer struct {
	etag, token string
	header      http.Header
	body        []byte
}

// before asks for an answer only if it has changed, and returns the one that is known.
func (a *answers) before(req *http.Request) *seenAnswer {
	if req.Method != http.MethodGet {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.byURL[req.URL.String()]
	if known == nil || known.token != tokenOf(req) {
		return nil
	}
	req.Header.Set("If-None-Match", known.etag)
	return known
}

// tokenOf is whom an answer is for.
func tokenOf(req *http.Request) string {
	return req.Header.Get("Authorization") + "\n" + req.Header.Get("Private-Token")
}

// after returns the known answer where that is still true, and keeps one that is new.
func (a *answers) after(req *http.Request, resp *http.Response, known *seenAnswer) (*http.Response, error) {
	if known != nil && resp.StatusCode == http.StatusNotModified {
		drop(resp)
		return known.response(req)
	}
	etag := resp.Header.Get("ETag")
	if req.Method != http.MethodGet || resp.StatusCode != http.StatusOK || etag == "" {
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it was read
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if packed, err := pack(body); err == nil {
		a.keep(req.URL.String(), &seenAnswer{etag, tokenOf(req), resp.Header.Clone(), packed})
	}
	return resp, nil
}

// keep keeps an answer. When there are too many they are all forgotten, which costs
// one listing.
func (a *answers) keep(url string, s *seenAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.byURL[url]; old != nil {
		a.bytes -= len(old.body)
	}
	if a.byURL == nil || a.bytes+len(s.body) > mostSeenBytes {
		a.byURL, a.bytes = map[string]*seenAnswer{}, 0
	}
	a.byURL[url] = s
	a.bytes += len(s.body)
}

func pack(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(out.Bytes()), nil
}

func (s *seenAnswer) response(req *http.Request) (*http.Response, error) {
	r, err := gzip.NewReader(bytes.NewReader(s.body))
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: s.header.Clone(), Body: r, ContentLength: -1, Request: req,
	}, nil
}
