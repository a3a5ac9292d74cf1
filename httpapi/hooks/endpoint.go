package hooks

import (
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// Path is where the webhooks of a service, by its number, are sent.
const Path = "/.api/webhooks/{service:[0-9]{1,10}}"

// PathOf returns the path of a service.
func PathOf(service uint32) string {
	return "/.api/webhooks/" + strconv.FormatUint(uint64(service), 10)
}

const (
	// maxBodyBytes is more than the push of a few thousand commits takes.
	maxBodyBytes = 4 << 20
	// holds is the body, and what it is read into.
	holds = 2 * maxBodyBytes
)

// Receiver acts on webhooks.
type Receiver interface {
	// HookConfig returns the configuration of a service, nil for none that takes
	// webhooks.
	HookConfig(service uint32) *hosts.Config
	// Hooked has the repositories of a webhook synced.
	Hooked(service uint32, hook codehost.Hook)
}

// Endpoint takes webhooks.
type Endpoint struct {
	// Receiver returns nil until the data directory is open.
	Receiver func() Receiver
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	recent recent
}

// Routes returns the route of the endpoint. The gate counts requests by their address, and
// admission the bodies that are read at once.
func (e *Endpoint) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "POST", Path: Path, Handler: e.serve, Access: auth.ForClients, Holds: holds, About: "tell that something was pushed; signed, for code hosts",
	}}
}

// answer is what the sender learns.
type answer struct {
	// Accepted says that something is done, and was not already for the same body.
	Accepted bool `json:"accepted"`
}

// errUnsigned is the same for a service that is not there, so that nobody learns which
// there are.
var errUnsigned = &httpapi.Error{Status: http.StatusUnauthorized, Message: "no such service, or a signature that its secrets did not make"}

func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	number, err := strconv.ParseUint(mux.Vars(r)["service"], 10, 32)
	if err != nil {
		return errUnsigned
	}
	receiver := e.Receiver()
	if receiver == nil {
		w.Header().Set("Retry-After", "1")
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return &httpapi.Error{Status: http.StatusRequestEntityTooLarge, Message: "the body is longer than 4 MiB"}
	case err != nil:
		return &httpapi.Error{Status: http.StatusBadRequest, Message: "the body ends early"}
	}
	service := uint32(number)
	config := receiver.HookConfig(service)
	if config == nil {
		return errUnsigned
	}
	hook, err := config.ReadHook(r.Header, body, e.now())
	switch {
	case errors.Is(err, codehost.ErrSignature):
		return errUnsigned
	case err != nil:
		return &httpapi.Error{Status: http.StatusBadRequest, Message: err.Error()}
	}
	out := answer{Accepted: e.recent.isNew(mark{service, sha256.Sum256(body)}, e.now())}
	if out.Accepted {
		receiver.Hooked(service, hook)
	}
	return httpapi.ServeJSON(w, r, out)
}

func (e *Endpoint) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}
