package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// index runs trawl index from nothing and once more with nothing changed, then
// from nothing with definitions and commits.
func (m *manyRun) index(ctx context.Context) error {
	m.Note("indexing text")
	t := m.trawl
	t.data = filepath.Join(m.Work, "text")
	if err := m.measureIndex(ctx, &t, &m.report.Text); err != nil {
		return err
	}
	m.Note("indexing with nothing changed")
	unchanged, err := t.index(ctx)
	if err != nil {
		return err
	}
	m.report.Unchanged = unchanged
	if err := os.RemoveAll(t.data); err != nil || !m.Symbols {
		return err
	}
	m.Note("indexing text, symbols and history")
	t.data, t.symbols, t.history = filepath.Join(m.Work, "symbols"), true, true
	facts := &ManyIndex{}
	if err := m.measureIndex(ctx, &t, facts); err != nil {
		return err
	}
	m.report.Symbols = facts
	return os.RemoveAll(t.data)
}

func (m *manyRun) measureIndex(ctx context.Context, t *trawl, facts *ManyIndex) error {
	u, err := t.index(ctx)
	if err != nil {
		return err
	}
	facts.Usage = u
	if facts.DiskBytes, facts.DiskParts, err = diskUse(t.data); err != nil {
		return err
	}
	facts.Shards, err = t.shards(ctx)
	m.Note(fmt.Sprintf("indexed in %s with %s of processor and %s of memory", showDuration(facts.Wall), showDuration(facts.CPU), showBytes(facts.PeakOwnBytes)))
	return err
}

// shards returns how many shards the data directory has. No server may have it
// open. The command's exit status tells whether all is well, which is not asked.
func (t *trawl) shards(ctx context.Context) (int, error) {
	cmd := exec.CommandContext(ctx, t.binary, "status", "--data", t.data, "--json")
	cmd.Env = t.env()
	out, runErr := cmd.Output()
	var status struct {
		Index struct {
			Shards int `json:"shards"`
		} `json:"index"`
	}
	if err := json.Unmarshal(out, &status); err != nil {
		return 0, fmt.Errorf("trawl status: %w", errors.Join(withStderr(runErr), err))
	}
	return status.Index.Shards, nil
}

// indexPeers has zoekt index one repository after the other, as its own server
// for that does, unless there is such an index.
func (m *manyRun) indexPeers(ctx context.Context) error {
	if !m.hasPeer() {
		return nil
	}
	kept, err := m.keptPeer()
	if err != nil {
		return err
	}
	if kept.matches(m.report) {
		m.Note("taking zoekt's index of " + kept.Started.Format(time.DateTime))
		m.report.Zoekt, m.report.ZoektKept = kept.Index, kept.Started
		m.report.Problems = append(m.report.Problems, kept.Problems...)
		return nil
	}
	m.Note("indexing with zoekt")
	if m.PeerIndex != "" {
		if err := errors.Join(os.RemoveAll(m.keptPeerFile()), os.RemoveAll(m.zoektDir())); err != nil {
			return err
		}
	}
	before := len(m.report.Problems)
	if err := m.indexZoekt(ctx); err != nil || m.PeerIndex == "" {
		return err
	}
	kept = &keptPeer{
		Started: m.report.Started, Version: m.report.Versions[zoektName], Fleet: m.report.Fleet, Index: m.report.Zoekt,
		Problems: m.report.Problems[before:],
	}
	b, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(m.keptPeerFile(), append(b, '\n'), 0o644)
}

func (m *manyRun) indexZoekt(ctx context.Context) error {
	facts := &ManyIndex{}
	var each []time.Duration
	for i := range m.Repositories {
		r := m.fleet.repository(i)
		u, err := measure(zoektIndexing(ctx, m.zoektDir(), m.fleet.folderOf(r), m.fleet.dirOf(r)))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			facts.Failed++
			if !r.empty {
				m.problem("zoekt cannot index %s: %v", r.name, err)
			}
		}
		facts.add(u)
		each = append(each, u.Wall)
	}
	facts.Each = percentiles(each)
	shards, err := filepath.Glob(filepath.Join(m.zoektDir(), "*.zoekt"))
	if err != nil {
		return err
	}
	facts.Shards = len(shards)
	m.report.Zoekt = facts
	facts.DiskBytes, facts.DiskParts, err = diskUse(m.zoektDir())
	facts.DiskParts = nil // an entry for each repository
	return err
}

func (m *manyRun) zoektDir() string {
	return filepath.Join(cmp.Or(m.PeerIndex, m.Work), zoektName)
}

// keptPeer describes an index of zoekt that an earlier run has left. It is
// written last, so that an index without it is not whole.
type keptPeer struct {
	Started  time.Time  `json:"started"`
	Version  string     `json:"version"`
	Fleet    FleetFacts `json:"fleet"`
	Index    *ManyIndex `json:"index"`
	Problems []string   `json:"problems,omitempty"`
}

func (m *manyRun) keptPeerFile() string { return filepath.Join(m.PeerIndex, zoektName+".json") }

// keptPeer returns what is kept, nil if that is nothing.
func (m *manyRun) keptPeer() (*keptPeer, error) {
	if m.PeerIndex == "" {
		return nil, nil
	}
	b, err := os.ReadFile(m.keptPeerFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept := &keptPeer{}
	if err := json.Unmarshal(b, kept); err != nil {
		return nil, fmt.Errorf("%s: %w", m.keptPeerFile(), err)
	}
	return kept, nil
}

// matches reports whether the index is one of the repositories of r by the same
// program.
func (k *keptPeer) matches(r *ManyReport) bool {
	return k != nil && k.Fleet == r.Fleet && k.Version == r.Versions[zoektName]
}

// add adds a command that ran behind the others.
func (u *Usage) add(v Usage) {
	u.Wall += v.Wall
	u.CPU += v.CPU
	u.PeakRSSBytes = max(u.PeakRSSBytes, v.PeakRSSBytes)
	u.PeakTreeRSSBytes = max(u.PeakTreeRSSBytes, v.PeakTreeRSSBytes)
	u.PeakTreeAnonBytes = max(u.PeakTreeAnonBytes, v.PeakTreeAnonBytes)
	u.PeakOwnBytes = max(u.PeakOwnBytes, v.PeakOwnBytes)
}
