package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/httpapi/trace"
)

const (
	defaultCompressors  = 64
	defaultWriteTimeout = time.Minute

	// A query travels in the request line, so this bounds its length too. A
	// longer one is answered 431 by net/http.
	maxHeaderBytes       = 256 << 10
	defaultHeaderTimeout = 10 * time.Second
	defaultBodyTimeout   = time.Minute
	idleTimeout          = 2 * time.Minute
)

// Server answers HTTP requests. Its fields are set before Routes, Open or Handler
// and not changed afterwards.
type Server struct {
	// Addr is host:port to listen on; port 0 chooses one.
	Addr string
	// ExternalURL is how clients reach the server, for links; empty takes it
	// from each request.
	ExternalURL string
	Searcher    Searcher
	// Opening says what must be opened before searches can run, "" when
	// nothing; nil is ready at once. It is called for every search.
	Opening func() string
	// Ready says what else /readyz waits for although searches can run, ""
	// when nothing; nil is nothing.
	Ready func() string
	// Notice says what is wrong although searches run, in words for any client,
	// "" when nothing is. With nil nothing ever is.
	Notice func() string
	// Log takes a line per request and what went wrong; its zero value logs
	// nothing.
	Log zerolog.Logger
	// QuietRequests logs requests at the level debug in place of info, for a log
	// that a person reads as it is written. Those that fail stay at warn.
	QuietRequests bool
	// Observer, if set, is called for every request.
	Observer Observer
	// Now is the clock for durations; nil is time.Now.
	Now func() time.Time
	// Random makes trace ids; nil is crypto/rand.
	Random io.Reader
	// Streams are what streams may take of memory.
	Streams stream.Limits
	// Admission decides which answers are made now; nil admits all.
	Admission *Admission
	// Compressors is how many answers are compressed at once, at about a megabyte each: an
	// eighth of them, four at most, are large ones. The others leave as they are. 0 is 64.
	Compressors int
	// WriteTimeout is how long 48 KiB of an event, or one page, may take to leave;
	// 0 is a minute.
	WriteTimeout time.Duration
	// HeaderTimeout and BodyTimeout are how long the head of a request, and its
	// body, may take to come; 0 are 10 s and a minute.
	HeaderTimeout, BodyTimeout time.Duration
	// Home tells the search page what to show before anything is searched; nil, and
	// a nil answer, are nothing.
	Home func(*http.Request) *Home
	// Contexts tells the search page the search contexts to choose from and the one of
	// searches that name none, "" for all repositories; nil are none.
	Contexts func(*http.Request) (all []string, chosen string)
	// Near returns the pages near an address that no route answers, for the page that says
	// so; nil is none.
	Near func(*http.Request) []Near
	// Extra adds to the routes.
	Extra []Route
	// Gate decides which requests are admitted; nil lets all clients search but
	// pages of other origins.
	Gate *auth.Gate
	// SetupSecret is the secret that creates the first user. Without one only a
	// client on the same machine may.
	SetupSecret string
	// SignInChoices are other services to sign in at, NoPasswords says that local
	// passwords let nobody in.
	SignInChoices []SignInChoice
	NoPasswords   bool

	prepareOnce sync.Once
	traces      *trace.Store
	compressors compressors
	stream      *stream.Endpoint
	draining    atomic.Bool   // set by Drain
	closing     chan struct{} // closed by Close
	closeOnce   sync.Once
	// listener is that of Addr; inner is that of this machine, nil if the first is
	// reached over loopback.
	listener, inner net.Listener
	server          *http.Server
	served          chan struct{} // closed when serving has ended
}

// prepare fills in defaults, once.
func (s *Server) prepare() {
	s.prepareOnce.Do(func() {
		if s.Now == nil {
			s.Now = time.Now
		}
		if s.Random == nil {
			s.Random = rand.Reader
		}
		s.Compressors = cmp.Or(s.Compressors, defaultCompressors)
		s.compressors = newCompressors(s.Compressors)
		s.WriteTimeout = cmp.Or(s.WriteTimeout, defaultWriteTimeout)
		s.HeaderTimeout = cmp.Or(s.HeaderTimeout, defaultHeaderTimeout)
		s.BodyTimeout = cmp.Or(s.BodyTimeout, defaultBodyTimeout)
		if s.Gate == nil {
			s.Gate = &auth.Gate{Anonymous: auth.AnonymousYes}
		}
		s.traces = &trace.Store{ExternalURL: s.ExternalURL, Now: s.Now, Random: s.Random}
		s.closing = make(chan struct{})
		s.stream = stream.New(stream.Options{
			Searcher: s.Searcher, Traces: s.traces, Compressors: s.compressors.answers, WriteTimeout: s.WriteTimeout,
			Closing: s.closing, Now: s.Now, Limits: s.Streams,
		})
	})
}

// Drain makes /readyz report from now on that the server stops, so that no new
// client is sent here. Requests are answered as before until Close.
func (s *Server) Drain() {
	s.draining.Store(true)
	if s.server != nil {
		s.server.SetKeepAlivesEnabled(false)
	}
}

// Close ends the server that Open started. It ends open streams: their searches
// are cancelled, and each still sends its remaining matches, its final progress
// and done. Requests that still run when ctx is done are cut off, and Close
// returns that error.
func (s *Server) Close(ctx context.Context) error {
	s.prepare()
	s.draining.Store(true)
	s.closeOnce.Do(func() { close(s.closing) })
	if s.server == nil {
		return nil
	}
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("close server: %w", err), s.server.Close())
	}
	<-s.served
	return err
}

// opening names what has to be opened before searches can run, "" if all is open.
func (s *Server) opening() string {
	if s.Opening == nil {
		return ""
	}
	return s.Opening()
}

func (s *Server) now() time.Time { return s.Now() }

// baseURL is how the client of a request reaches the server, without a slash
// at the end.
func (s *Server) baseURL(r *http.Request) string {
	return auth.BaseURL(s.ExternalURL, r)
}

// connectionLog takes what net/http reports of single connections, such as a
// malformed request.
type connectionLog struct{ log zerolog.Logger }

func (c connectionLog) Write(p []byte) (int, error) {
	c.log.Warn().Str("err", strings.TrimSpace(string(p))).Msg("connection")
	return len(p), nil
}
