package codehost

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// ClientOptions are what a Client needs.
type ClientOptions struct {
	// Dial makes all connections.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// CheckAddress judges the address of a redirect.
	CheckAddress func(address string) error
	// Pace is the least time between two requests, 0 for none.
	Pace time.Duration
	// Now and Sleep are the clock; nil is that of the machine. Sleep returns an
	// error when the context has ended.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

const (
	// mostTries is how often a request is made that fails in a way that passes.
	mostTries = 4
	// firstPause is the time before the second try; it doubles with each.
	firstPause = time.Second
	// mostWait is how long a listing waits for a limit. For longer ones it ends, and
	// begins again later.
	mostWait = time.Minute
	// answerTimeout is how long a host may take to begin its answer.
	answerTimeout = time.Minute
	// mostAnswerBytes is how long an answer may be.
	mostAnswerBytes = 32 << 20
	mostRedirects   = 5
)

// Client makes requests of one code host. It is an http.RoundTripper and safe for
// concurrent use.
type Client struct {
	o    ClientOptions
	base *http.Transport
	seen answers

	mu sync.Mutex // guards all below
	// free is when the next request may be made, next when it may be by Pace.
	free, next time.Time
}

// NewClient returns a client, which is closed when it is done with.
func NewClient(o ClientOptions) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Client{o: o, base: &http.Transport{
		DialContext: o.Dial, ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 256 << 10, ForceAttemptHTTP2: true,
	}}
}

// Close ends its connections.
func (c *Client) Close() { c.base.CloseIdleConnections() }

// HTTP returns a client that makes its requests through c.
func (c *Client) HTTP() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= mostRedirects:
			return errors.New("too many redirects")
		case req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme:
			// Headers with tokens that are not called Authorization would go along.
			return errors.New("the host redirects to another one: write that address into the configuration")
		case c.o.CheckAddress != nil:
			return c.o.CheckAddress(req.URL.String())
		}
		return nil
	}}
}

// RoundTrip makes a request without a body, again if need be.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		if err := c.wait(req.Context()); err != nil {
			return nil, err
		}
		resp, err := c.try(req)
		var pause time.Duration
		switch {
		case err != nil && req.Context().Err() != nil:
			return nil, err
		case err != nil:
			pause = c.backoff(try)
		case c.limited(resp):
			if try == mostTries {
				drop(resp)
				return nil, &LimitedError{c.limit()}
			}
			if c.limit().After(c.o.Now()) {
				drop(resp)
				continue
			}
			pause = c.backoff(try) // the limit is over by this clock, and not by the host's
		case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented:
			pause = c.backoff(try)
		default:
			return resp, nil
		}
		if try == mostTries || req.Body != nil && req.Body != http.NoBody {
			return resp, err
		}
		if resp != nil {
			drop(resp)
		}
		if err := c.o.Sleep(req.Context(), pause); err != nil {
			return nil, err
		}
	}
}

func (c *Client) backoff(try int) time.Duration {
	d := firstPause << (try - 1)
	return d/2 + rand.N(d)
}

// try makes a request once. What the host answered before is used where it says that
// nothing has changed.
func (c *Client) try(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Header.Set("User-Agent", "trawl")
	known := c.seen.before(out)
	resp, err := c.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	c.note(resp)
	resp.Body = &bounded{resp.Body, mostAnswerBytes}
	return c.seen.after(req, resp, known)
}

// wait waits until the host takes a request.
func (c *Client) wait(ctx context.Context) error {
	now := c.o.Now()
	c.mu.Lock()
	until := c.free
	if until.Sub(now) > mostWait {
		c.mu.Unlock()
		return &LimitedError{until}
	}
	if c.next.After(until) {
		until = c.next
	}
	if c.o.Pace > 0 {
		from := now
		if until.After(from) {
			from = until
		}
		c.next = from.Add(c.o.Pace)
	}
	c.mu.Unlock()
	if d := until.Sub(now); d > 0 {
		return c.o.Sleep(ctx, d)
	}
	return ctx.Err()
}

func (c *Client) limit() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.free
}

const (
	// mostSeconds is below which a reset is a number of seconds from now, as some
	// gateways have it, and no time since 1970.
	mostSeconds = 1_000_000_000
	// mostBehind is how far the clock of a host is taken to be behind. A limit that was over
	// earlier is no answer to when the next request may be made.
	mostBehind = 10 * time.Second
)

// note notes from when on the host takes the next request, as its answer says:
// Retry-After in seconds or as a date, or no requests remaining until a time, in
// seconds since 1970.
func (c *Client) note(resp *http.Response) {
	now, until := c.o.Now(), time.Time{}
	for _, name := range []string{"X-RateLimit-", "RateLimit-"} {
		if resp.Header.Get(name+"Remaining") != "0" {
			continue
		}
		if s, err := strconv.ParseInt(resp.Header.Get(name+"Reset"), 10, 64); err == nil {
			until = time.Unix(s+1, 0) // the header has no fractions of a second
			if s < mostSeconds {
				until = now.Add(time.Duration(s+1) * time.Second)
			}
		}
	}
	if refused(resp) || resp.StatusCode == http.StatusServiceUnavailable {
		if at := RetryAfter(resp.Header, now); !at.IsZero() {
			until = at
		}
	}
	if resp.StatusCode == http.StatusTooManyRequests && now.Sub(until) > mostBehind {
		until = now.Add(mostWait) // it does not say how long
	}
	// No host is obeyed for longer than its clock may be wrong.
	until = earlier(until, now.Add(mostLimit))
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.After(c.free) {
		c.free = until
	}
}

// RetryAfter returns from when on a server takes the next request by the header
// Retry-After (RFC 9110, section 10.2.3), zero if it does not say.
func RetryAfter(header http.Header, now time.Time) time.Time {
	text := header.Get("Retry-After")
	if s, err := strconv.ParseInt(text, 10, 32); err == nil && s >= 0 {
		return now.Add(time.Duration(s) * time.Second)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// mostLimit is the longest time for which a client makes no requests.
const mostLimit = 2 * time.Hour

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func refused(resp *http.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden
}

// limited reports whether a request was refused for a limit. A 403 may have other
// reasons.
func (c *Client) limited(resp *http.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode == http.StatusForbidden && (resp.Header.Get("Retry-After") != "" || resp.Header.Get("X-RateLimit-Remaining") == "0")
}

// drop ends an answer that nobody reads, and leaves the connection for the next.
func drop(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bounded is a body that fails when it is too long.
type bounded struct {
	io.ReadCloser
	left int64
}

var errLong = errors.New("the host's answer is too long")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
