package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// Decision is a user's answer to a device.
type Decision string

// The decisions; Pending is none yet.
const (
	Pending Decision = ""
	Granted Decision = "granted"
	Denied  Decision = "denied"
)

// Device is a program that waits for a user to let it in, on a page that it
// cannot show itself.
type Device struct {
	App    string   `json:"app"`
	Scopes []string `json:"scopes"`
	// Address is where it asked from.
	Address string    `json:"address,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	// UserCode is the hash of the code that its user types.
	UserCode []byte   `json:"userCode"`
	Decision Decision `json:"decision,omitempty"`
	// User is the ID of the user who decided, 0 before the decision.
	User uint32 `json:"user,omitempty"`
}

func (d *Device) delete(tx *identity.Tx, code Hash) {
	devices.Delete(tx.Records(), code)
	userCodes.Delete(tx.Records(), Hash(d.UserCode))
}

// userCodeLetters make no words and are not mistaken for each other (RFC 8628,
// section 6.1). Eight of them are 34 bits, good for half an hour and for
// signed-in users only, whose guesses the caller counts.
const (
	userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	userCodeLength  = 8
)

// Devices are the devices that wait for their users.
type Devices struct{ *base }

// Add records that a device waits. It returns what the device keeps and
// what its user types.
func (b Devices) Add(app string, scopes []string, address string) (deviceCode, userCode string, err error) {
	random, err := b.random(secretBytes)
	if err != nil {
		return "", "", err
	}
	deviceCode = wrap(deviceText, random)
	by := identity.Author{Via: "client " + app, Address: address}
	err = b.change(by, "let a device wait", func(b *Book, tx *identity.Tx) error {
		if err := b.Devices.makeRoom(tx, address); err != nil {
			return err
		}
		if userCode, err = b.Devices.newUserCode(); err != nil {
			return err
		}
		typed, _ := userCodeHash(userCode)
		kept, _ := ParseDeviceCode(deviceCode)
		err := devices.Put(tx.Records(), kept, &Device{
			App: app, Scopes: scopes, Address: address, Created: tx.Now(), Expires: tx.Now().Add(DeviceLasts), UserCode: typed[:],
		})
		return errors.Join(err, userCodes.Put(tx.Records(), typed, &kept))
	})
	if err != nil {
		return "", "", err
	}
	return deviceCode, userCode, nil
}

// makeRoom deletes the devices that have waited too long and fails with
// ErrFull when too many still do.
func (b Devices) makeRoom(tx *identity.Tx, address string) error {
	all, here := 0, 0
	err := each(b.base, devices, nil, func(code Hash, d *Device) error {
		if !tx.Now().Before(d.Expires) {
			d.delete(tx, code)
			return nil
		}
		all++
		if identity.AddressKey(d.Address) == identity.AddressKey(address) {
			here++
		}
		return nil
	})
	if err == nil && (all >= mostDevices || here >= mostAddressPend) {
		err = ErrFull
	}
	return err
}

// sweep deletes the devices that have waited too long.
func (b Devices) sweep(tx *identity.Tx) error {
	return each(b.base, devices, nil, func(code Hash, d *Device) error {
		if !tx.Now().Before(d.Expires) {
			d.delete(tx, code)
		}
		return nil
	})
}

// newUserCode makes a code that no other device has.
func (b Devices) newUserCode() (string, error) {
	for {
		code := make([]byte, 0, userCodeLength)
		for len(code) < userCodeLength {
			random, err := b.random(1)
			if err != nil {
				return "", err
			}
			// A byte above the last multiple of the number of letters would
			// favour some of them.
			if n := int(random[0]); n < 256/len(userCodeLetters)*len(userCodeLetters) {
				code = append(code, userCodeLetters[n%len(userCodeLetters)])
			}
		}
		text := string(code[:4]) + "-" + string(code[4:])
		h, _ := userCodeHash(text)
		_, err := userCodes.Get(b.st, h)
		if isNotFound(err) {
			return text, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// userCodeHash reads what a user typed, however they set it.
func userCodeHash(text string) (Hash, bool) {
	code := strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(text))
	if len(code) != userCodeLength || strings.Trim(code, userCodeLetters) != "" {
		return Hash{}, false
	}
	return sha256.Sum256([]byte(code)), true
}

// ParseDeviceCode returns the hash of a device code; ok is false for what is
// none.
func ParseDeviceCode(text string) (h Hash, ok bool) {
	rest, ok := strings.CutPrefix(text, deviceText)
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if !ok || err != nil || len(b) != secretBytes {
		return h, false
	}
	return sha256.Sum256(b), true
}

// Get returns the device with a code, also one that has waited too long, or
// an error that is ErrNoGrant.
func (b Devices) Get(code Hash) (*Device, error) {
	d, err := devices.Get(b.st, code)
	return d, gone(err)
}

// Expired reports whether a device has waited too long.
func (b Devices) Expired(d *Device) bool { return !b.now().Before(d.Expires) }

// Waiting returns the device whose user types this code, if it waits for a
// decision, or an error that is ErrNoGrant.
func (b Devices) Waiting(userCode string) (*Device, error) {
	_, d, err := b.waiting(userCode)
	return d, err
}

func (b Devices) waiting(userCode string) (code Hash, d *Device, err error) {
	h, ok := userCodeHash(userCode)
	if !ok {
		return code, nil, ErrNoGrant
	}
	of, err := userCodes.Get(b.st, h)
	if err != nil {
		return code, nil, gone(err)
	}
	code = *of
	if d, err = b.Get(code); err != nil {
		return code, nil, err
	}
	if d.Decision != Pending || b.Expired(d) {
		return code, nil, ErrNoGrant
	}
	return code, d, nil
}

// Decide records what a user said to the device whose code they typed. The
// error is ErrNoGrant if it does not wait any more.
func (b Devices) Decide(by identity.Author, userCode string, user uint32, d Decision) error {
	return b.change(by, "decide about a device", func(b *Book, tx *identity.Tx) error {
		code, dev, err := b.Devices.waiting(userCode)
		if err != nil {
			return err
		}
		if err := by.MayCreateCredentials(); err != nil {
			return err
		}
		if err := b.usable(user, dev.App); err != nil {
			return err
		}
		dev.Decision, dev.User = d, user
		if d == Granted {
			tx.Audit(ActionGrant, appTarget(dev.App), user, fmt.Sprintf("scopes %s, device at %s", strings.Join(dev.Scopes, " "), dev.Address))
		}
		return devices.Put(tx.Records(), code, dev)
	})
}

// Give gives out tokens to a device that was let in, which is over by
// that. The IDs of the keys' grant were made for its user.
func (b Devices) Give(by identity.Author, code Hash, t Tokens) error {
	return b.update(by, func(b *Book, tx *identity.Tx) error {
		d, err := b.Devices.Get(code)
		if err != nil {
			return err
		}
		if err := b.usable(d.User, d.App); err != nil || d.Decision != Granted || b.Devices.Expired(d) || t.Access.Grant.User() != d.User {
			return errors.Join(err, ErrNoGrant)
		}
		d.delete(tx, code)
		return b.Grants.begin(tx, d.App, d.Scopes, t, mostGrants)
	})
}
