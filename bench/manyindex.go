package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
// for that does.
func (m *manyRun) indexPeers(ctx context.Context) error {
	if !m.hasPeer() {
		return nil
	}
	m.Note("indexing with zoekt")
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

func (m *manyRun) zoektDir() string { return filepath.Join(m.Work, zoektName) }

// add adds a command that ran behind the others.
func (u *Usage) add(v Usage) {
	u.Wall += v.Wall
	u.CPU += v.CPU
	u.PeakRSSBytes = max(u.PeakRSSBytes, v.PeakRSSBytes)
	u.PeakTreeRSSBytes = max(u.PeakTreeRSSBytes, v.PeakTreeRSSBytes)
	u.PeakTreeAnonBytes = max(u.PeakTreeAnonBytes, v.PeakTreeAnonBytes)
	u.PeakOwnBytes = max(u.PeakOwnBytes, v.PeakOwnBytes)
}
