package service

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
)

// asked are the repositories to sync out of turn, as users asked of this node and of
// others.
type asked struct {
	store *store.Store
	node  *node.Node
	log   zerolog.Logger
	// signal holds a token when there is one.
	signal signal

	mu    sync.Mutex // guards all below
	names []string
	has   map[string]bool // the same names
}

// add has a repository synced by this node.
func (a *asked) add(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.has == nil {
		a.has = map[string]bool{}
	}
	if !a.has[name] {
		a.names, a.has[name] = append(a.names, name), true
	}
	a.signal.set()
}

func (a *asked) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.names)
}

// refresh has a repository synced by the node whose work it is.
func (a *asked) refresh(name string) {
	sn := a.store.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil || a.node.Mine(r.ID) {
		a.add(name)
		return
	}
	if !r.Indexed() && r.LastError == "" {
		return // it is new, which the other node heard with its record
	}
	var c store.Records
	c.Put(store.RecordAsked, binary.BigEndian.AppendUint32(nil, r.ID), nil)
	if err := a.store.CommitRecords(&c); err != nil {
		a.log.Warn().Str("repo", name).Str("err", redact.Text(err.Error())).Msg("ask another node to sync")
	}
}

// applied has what other nodes ask for synced, and what they have added, if it is the
// work of this one.
func (a *asked) applied(v store.Applied) {
	if !a.node.Joined() {
		return
	}
	for _, c := range v.Repositories {
		if c.After != nil && c.Before == nil && a.node.Mine(c.After.ID) {
			a.add(c.After.Name)
		}
	}
	if v.Has(store.RecordAsked) {
		a.signal.set()
	}
}

// gained asks for those repositories of this node that no node has tried yet: one that
// was added while its part was on its way between nodes was no node's work then.
func (a *asked) gained() {
	sn := a.store.Snapshot()
	defer sn.Close()
	for _, r := range sn.Repositories() {
		if !r.Indexed() && r.LastError == "" && a.node.Mine(r.ID) {
			a.add(r.Name)
		}
	}
	a.signal.set()
}

// take returns what was asked for here, and through other nodes.
func (a *asked) take() []string {
	a.mu.Lock()
	names := a.names
	a.names, a.has = nil, nil
	a.mu.Unlock()
	if !a.node.Joined() {
		return names
	}
	elsewhere, err := a.takeRecords()
	if err != nil {
		a.log.Warn().Str("err", redact.Text(err.Error())).Msg("read what other nodes ask for")
	}
	return append(names, elsewhere...)
}

// takeRecords takes the records of RecordAsked that are for this node.
func (a *asked) takeRecords() (names []string, err error) {
	var done store.Records
	sn := a.store.Snapshot()
	defer sn.Close()
	err = a.store.EachRecord(store.RecordRange{Kind: store.RecordAsked}, func(id, _ []byte) (bool, error) {
		if len(id) != 4 {
			done.Delete(store.RecordAsked, slices.Clone(id))
			return true, nil
		}
		number := binary.BigEndian.Uint32(id)
		if !a.node.Mine(number) {
			return true, nil
		}
		done.Delete(store.RecordAsked, slices.Clone(id))
		if r := sn.RepositoryByID(number); r != nil {
			names = append(names, r.Name)
		}
		return true, nil
	})
	if err == nil && !done.Empty() {
		err = a.store.CommitRecords(&done)
	}
	return names, err
}
