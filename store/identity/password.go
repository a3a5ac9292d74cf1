package identity

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Cost is the cost of a password hash. The zero value is today's default;
// hashes keep their own, and get today's at the next sign-in.
type Cost struct {
	// MemoryKiB is the memory of one hash, Passes how often it is gone over.
	MemoryKiB, Passes uint32
}

// The default takes 0.11 s on one core of a busy 2-core machine
// (BenchmarkPassword, November 2026), and more than the 19 MiB and 2 passes
// that OWASP asks for at least.
const (
	defaultMemoryKiB = 32 << 10
	defaultPasses    = 3
)

func (c Cost) withDefaults() Cost {
	c.MemoryKiB = cmp.Or(c.MemoryKiB, defaultMemoryKiB)
	c.Passes = cmp.Or(c.Passes, defaultPasses)
	return c
}

// LeastPasswordRunes is how many characters a password has at least.
const LeastPasswordRunes = 12

// mostPasswordBytes is far above what a person types, and bounds the work of
// one request.
const mostPasswordBytes = 1024

// CheckPassword says why a new password is refused, or is nil.
func CheckPassword(password string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < LeastPasswordRunes:
		return refuse("the password is too short: take %d characters or more", LeastPasswordRunes)
	case len(password) > mostPasswordBytes:
		return refuse("the password is too long: take at most %d bytes", mostPasswordBytes)
	}
	return nil
}

const (
	saltBytes = 16
	hashBytes = 32
	// mostMemoryKiB and mostPasses bound the cost of a hash that was read: that of
	// a damaged one could be terabytes, or years.
	mostMemoryKiB = 256 << 10
	mostPasses    = 64
	// hashesAtOnce bounds the memory that password hashes take together;
	// hashesWaiting how many requests may wait for it.
	hashesAtOnce  = 2
	hashesWaiting = 32
)

// hasher makes password hashes, a few at a time.
type hasher struct {
	cost    Cost
	slots   chan struct{}
	waiting atomic.Int32
}

func newHasher(c Cost) *hasher {
	return &hasher{cost: c.withDefaults(), slots: make(chan struct{}, hashesAtOnce)}
}

// do runs f when there is room. It fails with ErrBusy rather than let a queue
// grow.
func (h *hasher) do(ctx context.Context, f func()) error {
	if h.waiting.Add(1) > hashesWaiting+hashesAtOnce {
		h.waiting.Add(-1)
		return ErrBusy
	}
	defer h.waiting.Add(-1)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.slots }()
	f()
	return nil
}

// A password hash is kept in the form that other programs use, too:
//
//	$argon2id$v=19$m=32768,t=3,p=1$<salt>$<hash>
//
// with salt and hash in base64 without padding.
type passwordHash struct {
	cost       Cost
	salt, hash []byte
}

func (p passwordHash) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, p.cost.MemoryKiB, p.cost.Passes,
		b64.EncodeToString(p.salt), b64.EncodeToString(p.hash))
}

var errHashForm = errors.New("password hash of an unknown form")

func parsePasswordHash(text string) (p passwordHash, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, errHashForm
	}
	if _, err := fmt.Sscanf(parts[3]+"\n", "m=%d,t=%d,p=1\n", &p.cost.MemoryKiB, &p.cost.Passes); err != nil {
		return p, errHashForm
	}
	b64 := base64.RawStdEncoding.Strict()
	if p.salt, err = b64.DecodeString(parts[4]); err != nil {
		return p, errHashForm
	}
	if p.hash, err = b64.DecodeString(parts[5]); err != nil || len(p.hash) != hashBytes {
		return p, errHashForm
	}
	if c := p.cost; c.Passes == 0 || c.Passes > mostPasses || c.MemoryKiB == 0 || c.MemoryKiB > mostMemoryKiB {
		return p, errHashForm
	}
	return p, nil
}

func (p passwordHash) of(password string) []byte {
	return argon2.IDKey([]byte(password), p.salt, p.cost.Passes, p.cost.MemoryKiB, 1, hashBytes)
}

// hash hashes a new password.
func (h *hasher) hash(ctx context.Context, password string, salt []byte) (string, error) {
	p := passwordHash{cost: h.cost, salt: salt}
	err := h.do(ctx, func() { p.hash = p.of(password) })
	return p.String(), err
}

// check reports whether password is that of the stored hash; old says that the
// hash was made at another cost than today's. A hash that cannot be read
// belongs to no password, and takes as long.
func (h *hasher) check(ctx context.Context, stored, password string) (right, old bool, err error) {
	p, perr := parsePasswordHash(stored)
	if perr != nil {
		p = passwordHash{cost: h.cost, salt: make([]byte, saltBytes), hash: make([]byte, hashBytes)}
	}
	if len(password) > mostPasswordBytes {
		password = password[:mostPasswordBytes+1]
	}
	err = h.do(ctx, func() {
		right = subtle.ConstantTimeCompare(p.of(password), p.hash) == 1 && perr == nil
	})
	return right, p.cost != h.cost, err
}
