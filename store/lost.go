package store

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// LostRepository is a repository whose record cannot be read. Name and Source
// are what can be made out of it, which may be damaged too, or empty.
type LostRepository struct {
	ID           uint32
	Name, Source string
}

var (
	nameInRecord   = regexp.MustCompile(`"name":("(?:[^"\\]|\\.)*")`)
	sourceInRecord = regexp.MustCompile(`"source":("(?:[^"\\]|\\.)*")`)
)

// lostFrom makes out what it can of a damaged record.
func lostFrom(id uint32, value []byte) LostRepository {
	text := func(pattern *regexp.Regexp) (out string) {
		m := pattern.FindSubmatch(value)
		if m == nil || !utf8.Valid(m[1]) || json.Unmarshal(m[1], &out) != nil || strings.ContainsFunc(out, func(r rune) bool { return r < ' ' }) {
			return ""
		}
		return out
	}
	return LostRepository{ID: id, Name: text(nameInRecord), Source: text(sourceInRecord)}
}

// nobody returns the readers of a repository whose readers are unknown.
func nobody() *Readers { return &Readers{} }

// Lost returns the repositories whose records cannot be read.
func (sn *Snapshot) Lost() []LostRepository { return sn.c.lost }

// Recover replaces a record that cannot be read by a new one and returns it.
// The new record has another ID, since the references of the old one are
// unknown. Only site admins may see the repository, since its readers are
// unknown too. It fails with ErrNotFound when no such record is lost, and with
// ErrExists when the name is taken.
func (rs Repositories) Recover(lost uint32, r Repository) (*Repository, error) {
	r.Readers = nobody()
	out, err := rs.add(r, []uint32{lost})
	if err != nil {
		return nil, fmt.Errorf("recover repository %d: %w", lost, err)
	}
	return out, nil
}

// ForgetLost deletes a record of a repository that cannot be read.
func (rs Repositories) ForgetLost(lost uint32) error {
	return rs.s.Update(func(tx *Tx) error {
		if !tx.sn.c.isLost(lost) {
			return fmt.Errorf("forget repository %d: %w", lost, ErrNotFound)
		}
		tx.Change.Remove = []uint32{lost}
		return nil
	})
}

func (c *catalogue) isLost(id uint32) bool {
	return slices.ContainsFunc(c.lost, func(l LostRepository) bool { return l.ID == id })
}

// forgetLost takes a repository from those that are lost.
func (c *catalogue) forgetLost(id uint32) {
	if !c.isLost(id) {
		return
	}
	c.lost = slices.DeleteFunc(slices.Clone(c.lost), func(l LostRepository) bool { return l.ID == id })
	about := lostPrefix(id)
	c.unread = slices.DeleteFunc(slices.Clone(c.unread), func(text string) bool { return strings.HasPrefix(text, about) })
}

// lostPrefix begins the report of a record that cannot be read.
func lostPrefix(id uint32) string { return fmt.Sprintf("repository %d: ", id) }
