package saved

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// SubjectKind says what a subject is.
type SubjectKind byte

// The kinds of subjects, from that of the weakest settings.
const (
	SubjectDefault SubjectKind = 'd'
	SubjectSite    SubjectKind = 's'
	SubjectOrg     SubjectKind = 'o'
	SubjectUser    SubjectKind = 'u'
)

// Subject is what has settings, or owns something: a user or an organisation
// by ID, the site, or the defaults, whose ID is 0.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	ID   uint32      `json:"id,omitempty"`
}

func (s Subject) key() []byte { return append([]byte{byte(s.Kind)}, id4(s.ID)...) }

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
var ErrConflict = errors.New("changed by somebody else meanwhile")

// Settings returns the latest settings of a subject, nil if there are none.
func (b *Book) Settings(of Subject) (*Settings, error) {
	var out *Settings
	err := b.st.EachRecord(store.RecordRange{Kind: store.RecordSettings, Prefix: of.key(), Backwards: true}, func(id, value []byte) (bool, error) {
		var err error
		out, err = decode[Settings](store.RecordSettings, id, value)
		return false, err
	})
	return out, err
}

// ChangeSettings replaces the settings of a subject by what change makes of
// them. The error is ErrConflict unless last is the ID of the latest, 0 for
// none; an error of change's is returned as it is.
func (b *Book) ChangeSettings(of Subject, author, last uint32, change func(contents string) (string, error)) (*Settings, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.st.BeginRecords()
	old, err := b.Settings(of)
	if err != nil {
		return nil, err
	}
	latest, contents := uint32(0), ""
	if old != nil {
		latest, contents = old.ID, old.Contents
	}
	if latest != last {
		return nil, fmt.Errorf("settings: %w", ErrConflict)
	}
	next := &Settings{Subject: of, Author: author, Created: b.now().UTC()}
	if next.Contents, err = change(contents); err != nil {
		return nil, err
	}
	if next.ID, err = b.next(&c, "settings"); err != nil {
		return nil, err
	}
	if err := put(&c, store.RecordSettings, binary.BigEndian.AppendUint32(of.key(), next.ID), next); err != nil {
		return nil, err
	}
	if err := b.forgetVersions(&c, of); err != nil {
		return nil, err
	}
	return next, b.st.CommitRecords(&c)
}

// forgetVersions deletes the oldest versions, so that with one more there are
// versionsKept at most.
func (b *Book) forgetVersions(c *store.Records, of Subject) error {
	n := 0
	return b.st.EachRecord(store.RecordRange{Kind: store.RecordSettings, Prefix: of.key(), Backwards: true}, func(id, _ []byte) (bool, error) {
		if n++; n >= versionsKept {
			c.Delete(store.RecordSettings, append([]byte(nil), id...))
		}
		return true, nil
	})
}
