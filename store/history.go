package store

import (
	"encoding/binary"
	"fmt"

	"github.com/trawlsearch/trawl/store/decode"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// History is the part of a repository's commits that is indexed, for searches
// of messages and diffs.
type History struct {
	// Tip is the commit whose history is indexed as far as Depth allows; empty
	// before the first read. Reading is the commit whose history is being read,
	// or was when the read was interrupted; part of its history is indexed.
	Tip     string `json:"tip,omitempty"`
	Reading string `json:"reading,omitempty"`
	// Depth names the settings under which it was read. Under other settings, or "", it
	// is read again.
	Depth string `json:"depth,omitempty"`
	// Shards are the history shards that hold some of it.
	Shards []uint32 `json:"shards,omitempty"`
	// Sequence is the Commit.Sequence of the last reading.
	Sequence uint32 `json:"sequence,omitempty"`
	// More says that there are commits older than those kept.
	More bool `json:"more,omitempty"`
	// Commits counts those kept, Diffs those of them with their diffs, merges
	// not among them.
	Commits int `json:"commits,omitempty"`
	Diffs   int `json:"diffs,omitempty"`
	// TooLarge counts files whose diff is too large to be kept.
	TooLarge int `json:"too_large,omitempty"`
	// Newest is the latest date of a committer, in seconds from 1970.
	Newest int64 `json:"newest,omitempty"`
	// Mailmap is the object id of the .mailmap that People were made with.
	Mailmap string `json:"mailmap,omitempty"`
	// LastRead is when Tip was last reached, LastError why the last reading
	// failed, empty after a success.
	LastRead  Timestamp `json:"last_read,omitzero"`
	LastError string    `json:"last_error,omitempty"`
}

// Complete reports whether all commits up to tip are kept that are to be.
func (h *History) Complete(tip string) bool { return h.Tip == tip && h.Reading == "" }

// People maps persons of a repository's commits to who they are by its
// .mailmap; those it says nothing of are missing.
type People map[shard.Person]shard.Person

// Is returns who p is.
func (m People) Is(p shard.Person) shard.Person {
	if to, ok := m[p]; ok {
		return to
	}
	return p
}

// MaxPeople is how many persons a mailmap may change; that of Linux changes two
// thousand.
const MaxPeople = 20_000

func encodePeople(m People) []byte {
	var out []byte
	for from, to := range m {
		for _, s := range []string{from.Name, from.Email, to.Name, to.Email} {
			out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
		}
	}
	return out
}

func decodePeople(value []byte) (People, error) {
	r := decode.Reader{Rest: value}
	text := func() string { return string(r.Bytes(r.Count())) }
	person := func() shard.Person { return shard.Person{Name: text(), Email: text()} }
	m := People{}
	for len(r.Rest) > 0 && !r.Bad {
		from := person()
		m[from] = person()
	}
	if r.Bad {
		return nil, fmt.Errorf("people: %w", ErrCorrupt)
	}
	return m, nil
}

// People returns what Change.People was last for the repository.
func (sn *Snapshot) People(repository uint32) (People, error) {
	var m People
	_, err := engine.Get(sn.m.snap, keyPeople(repository), func(value []byte) (err error) {
		m, err = decodePeople(value)
		return err
	})
	if err != nil {
		return m, fmt.Errorf("people of repository %d: %w", repository, err)
	}
	return m, nil
}

// ForgetPeople drops the people of a repository, which the next reading of its
// history makes anew.
func (rs Repositories) ForgetPeople(repository uint32) error {
	return rs.s.Update(func(tx *Tx) error {
		old := tx.sn.c.repository(repository)
		if old == nil {
			return nil
		}
		next := *old
		next.History.Mailmap, next.History.Reading = "", next.History.Tip
		tx.Change = Change{Repositories: []*Repository{&next}, People: map[uint32]People{repository: {}}}
		return nil
	})
}
