package httpapi

import (
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// AdminPin is a reader that the configuration file names, and what it stands for.
type AdminPin struct {
	// Reader is user:NAME or org:NAME.
	Reader string `json:"reader"`
	// State is "in force", "waiting" or "deleted".
	State string `json:"state"`
	// Account is the ID of the user or organisation, Now what it is called.
	Account uint32    `json:"account,omitempty"`
	Now     string    `json:"now,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Text says it in words.
	Text string `json:"text"`
}

// InForce reports whether the reader lets an account in.
func (p AdminPin) InForce() bool { return p.State == string(identity.PinInForce) }

func newAdminPin(p identity.Pin) AdminPin {
	return AdminPin{Reader: p.Reader, State: string(p.State), Account: p.ID, Now: p.Now, Since: p.Since, Text: p.String()}
}

func newAdminPins(pins []identity.Pin) []AdminPin {
	out := make([]AdminPin, len(pins))
	for i, p := range pins {
		out[i] = newAdminPin(p)
	}
	return out
}

// listPins answers with the pins of the repository of the parameter name, or all.
func listPins(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	pins, err := reg.Pins(r.URL.Query().Get("name"))
	return newAdminPins(pins), err
}

// declareReaders sets the readers of a repository as the configuration file names
// them, and answers with their pins.
func declareReaders(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var readers []string
	if err := decodeAdmin(w, r, &readers); err != nil {
		return nil, err
	}
	name, err := adminName(r)
	if err != nil {
		return nil, err
	}
	pins, err := reg.DeclareReaders(author(r), name, readers)
	return newAdminPins(pins), err
}

// repin has a reader stand for the account that has the name now.
func repin(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var ask AdminPin
	if err := decodeAdmin(w, r, &ask); err != nil {
		return nil, err
	}
	p, err := reg.Repin(author(r), ask.Reader)
	return newAdminPin(p), err
}
