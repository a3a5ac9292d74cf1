package shard

import (
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
)

// Quarantine describes a shard in quarantine: part of it is damaged, so no
// reader sees any of it. It stays until its repositories have been indexed anew
// and none refers to it.
type Quarantine struct {
	// Since is when that was noticed, zero when it was at the opening of the
	// store; Reason says what is wrong, and nothing of what the shard holds.
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason"`
}

// ErrQuarantined says that a shard is in quarantine.
var ErrQuarantined = errors.New("set aside as damaged")

// IsDamage reports whether err says that the data is corrupt, and not only that
// it could not be read.
func IsDamage(err error) bool {
	return engine.IsDamage(err) || errors.Is(err, postings.ErrCorrupt)
}

// Error is an error over the data of one shard.
type Error struct {
	Shard uint32
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("shard %d: %v", e.Shard, e.Err) }

// Unwrap returns what is wrong with the shard.
func (e *Error) Unwrap() error { return e.Err }

// Damaged returns the shard that err says is damaged.
func Damaged(err error) (shard uint32, ok bool) {
	var e *Error
	if !errors.As(err, &e) || !IsDamage(e.Err) {
		return 0, false
	}
	return e.Shard, true
}

// inShard says of which shard err is; nil stays nil.
func inShard(id uint32, err error) error {
	if err == nil {
		return nil
	}
	return &Error{id, err}
}
