package backup

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/store/object"
)

// These make damaged and hostile destinations.
var (
	Seal           = seal
	SealVersion    = sealVersion
	HarmlessConfig = harmlessConfig
)

// PartBytes is the content of an object.
const PartBytes = partBytes

// Name returns where the manifest is.
func (h *Head) Name() string { return h.name() }

// Encode returns a manifest as it is stored without encryption.
func (m *Manifest) Encode() ([]byte, error) { return m.encode(sealer{}) }

// Quick makes locks and passphrases fast; at is the clock, nil is time.Now.
func (o Options) Quick(at func() time.Time) Options {
	o.timing, o.now = quick(), at
	return o
}

// Quick is the same.
func (o PruneOptions) Quick() PruneOptions {
	o.timing = quick()
	return o
}

func quick() timing {
	return timing{refresh: 10 * time.Millisecond, dead: 30 * time.Second, poll: 5 * time.Millisecond, scrypt: 2}
}

// DecodeManifest reads what is stored under name.
func DecodeManifest(name string, data []byte) (*Manifest, error) {
	return decodeManifest(name, data, sealer{})
}

// HoldCreate takes the lock of a backup that is made, and returns what ends it.
func HoldCreate(dest object.Store) (end func(), err error) { return hold(dest, lockCreate) }

// HoldPrune is the same for a Prune.
func HoldPrune(dest object.Store) (end func(), err error) { return hold(dest, lockPrune) }

func hold(dest object.Store, kind string) (func(), error) {
	l, err := takeLock(context.Background(), dest, kind, quick())
	if err != nil {
		return nil, err
	}
	return func() { l.release(context.Background()) }, nil
}
