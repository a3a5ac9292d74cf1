package saved

import (
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// SubjectKind says what a subject is.
type SubjectKind byte

// The kinds of subjects, from that of the weakest settings. SubjectConfiguration has no
// settings of people but the configuration of the server.
const (
	SubjectConfiguration SubjectKind = 'c'

	SubjectDefault SubjectKind = 'd'
	SubjectSite    SubjectKind = 's'
	SubjectOrg     SubjectKind = 'o'
	SubjectUser    SubjectKind = 'u'
)

// Subject is what has settings, or owns something: a user or an organisation
// by ID, the server, the site, or the defaults, whose ID is 0.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	ID   uint32      `json:"id,omitempty"`
}

// Settings is one version of a subject's settings.
type Settings struct {
	// ID is never used again.
	ID      uint32  `json:"id"`
	Subject Subject `json:"subject"`
	// Author is the ID of the user who wrote them, 0 for the operator.
	Author  uint32    `json:"author,omitempty"`
	Created time.Time `json:"created"`
	// Contents is JSON with comments.
	Contents string `json:"contents"`
}

// MaxSettingsBytes is how long settings may be.
const MaxSettingsBytes = 128 << 10

// versionsKept is how many versions of a subject's settings are kept.
const versionsKept = 20

// ErrConflict says that something was changed since it was read.
var ErrConflict = errors.New("changed by another user meanwhile")

// versions are those of the settings of a subject, from the latest.
func versions(of Subject) store.RecordRange {
	return store.RecordRange{Kind: store.RecordSettings, Prefix: table.ID(of), Backwards: true}
}

// Versions are the settings of subjects, the latest and those before.
type Versions struct{ *base }

// Latest returns the latest settings of a subject, nil if there are none.
func (b Versions) Latest(of Subject) (latest *Settings, err error) {
	err = settings.Each(b.st, versions(of), nil, func(_ settingsKey, s *Settings) (bool, error) {
		latest = s
		return false, nil
	})
	return latest, err
}

// Change replaces the settings of a subject by what f makes of them. The error is
// ErrConflict unless last is the ID of the latest, 0 for none; an error of f's is
// returned as it is.
func (b Versions) Change(of Subject, author, last uint32, f func(contents string) (string, error)) (next *Settings, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		old, err := b.Settings.Latest(of)
		if err != nil {
			return err
		}
		if old == nil {
			old = &Settings{}
		}
		if old.ID != last {
			return fmt.Errorf("settings: %w", ErrConflict)
		}
		next = &Settings{Subject: of, Author: author, Created: b.now()}
		if next.Contents, err = f(old.Contents); err != nil {
			return err
		}
		if next.ID, err = b.next(c, "settings"); err != nil {
			return err
		}
		if err := settings.Put(c, settingsKey{of, next.ID}, next); err != nil {
			return err
		}
		return b.Settings.forget(c, of)
	})
	if err != nil {
		return nil, err
	}
	return next, nil
}

// forget deletes the oldest versions, damaged ones too, so that with one
// more there are versionsKept at most.
func (b Versions) forget(c *store.Records, of Subject) error {
	n := 0
	return b.st.EachRecord(versions(of), func(id, _ []byte) (bool, error) {
		if n++; n >= versionsKept {
			c.Delete(store.RecordSettings, id)
		}
		return true, nil
	})
}
