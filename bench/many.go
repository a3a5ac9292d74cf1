package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ManyConfig says how many repositories are made and how they are searched. The
// zero value of a field means its default.
type ManyConfig struct {
	// Trawl is the binary; required.
	Trawl string
	// Work is an empty directory, or one that is not there, for repositories and
	// indexes; required.
	Work string
	// Repositories is how many; 1000. Seed draws them.
	Repositories int
	Seed         uint64
	// Memory is trawl's setting of that name; 512MiB.
	Memory string
	// Peers may hold "zoekt".
	Peers []string
	// PeerIndex, if set, is a directory where zoekt's index stays with its figures,
	// and where it is taken from if it is one of the same repositories.
	PeerIndex string
	// Symbols indexes once more, with definitions and commits.
	Symbols bool
	// Apart has a server open a store with a shard for each repository.
	Apart bool
	// Runs is how often each query is timed; 7. Commits is how many commits are
	// made and synced one after the other; 5.
	Runs, Commits int
	// Idle is how long a server must do nothing to count as idle; 3 s.
	Idle time.Duration
	// Note, if set, hears how far it is.
	Note func(string)
}

func (c *ManyConfig) ensureDefaults() error {
	if c.Trawl == "" || c.Work == "" {
		return errors.New("a trawl binary and a work directory are needed")
	}
	if i := slices.IndexFunc(c.Peers, func(name string) bool { return name != zoektName }); i >= 0 {
		return fmt.Errorf("no peer %q reads many repositories; %s does", c.Peers[i], zoektName)
	}
	c.Repositories = cmp.Or(c.Repositories, 1000)
	c.Memory = cmp.Or(c.Memory, "512MiB")
	c.Runs = cmp.Or(c.Runs, 7)
	c.Commits = cmp.Or(c.Commits, 5)
	c.Idle = cmp.Or(c.Idle, 3*time.Second)
	if c.Note == nil {
		c.Note = func(string) {}
	}
	return nil
}

// zoektName is the name of the peer that takes part.
const zoektName = "zoekt"

// manyRun is one run in progress.
type manyRun struct {
	ManyConfig
	fleet  *fleet
	trawl  trawl
	report *ManyReport
}

// Many makes repositories, indexes them with trawl and its peers, and measures
// what an operator and a user notice of their number. Wrong answers are Problems
// of the report, and so is the error that ended a run early: a run takes hours,
// and what was measured until then holds.
func Many(ctx context.Context, c ManyConfig) (*ManyReport, error) {
	if err := c.ensureDefaults(); err != nil {
		return nil, fmt.Errorf("many: %w", err)
	}
	m, err := newManyRun(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("many: %w", err)
	}
	if err := m.generate(ctx); err != nil {
		return nil, fmt.Errorf("many: %w", err)
	}
	for _, phase := range []func(context.Context) error{m.index, m.indexPeers, m.apart, m.serve} {
		err := phase(ctx)
		if ctx.Err() != nil {
			err = context.Cause(ctx) // and not what became of a program that was killed
		}
		if err != nil {
			m.problem("the run ended early: %v", err)
			break
		}
	}
	m.report.Checks = m.report.check()
	return m.report, nil
}

func newManyRun(ctx context.Context, c ManyConfig) (*manyRun, error) {
	setting, err := parseSize(c.Memory)
	if err != nil {
		return nil, err
	}
	if _, err := findPeers(append([]string{}, c.Peers...)); err != nil {
		return nil, err
	}
	if c.Work, err = emptyFolder(c.Work); err != nil {
		return nil, err
	}
	m := &manyRun{
		ManyConfig: c,
		fleet:      newFleet(c.Seed, c.Repositories, filepath.Join(c.Work, "repositories")),
		trawl:      trawl{binary: c.Trawl, memory: c.Memory, config: filepath.Join(c.Work, "trawl.yaml")},
		report: &ManyReport{
			Version: ReportVersion, Started: time.Now().UTC(), Machine: thisMachine(),
			Memory: c.Memory, SettingBytes: setting, Runs: c.Runs,
		},
	}
	m.report.Versions = map[string]string{selfName: m.trawl.version(ctx)}
	if m.hasPeer() {
		m.report.Versions[zoektName] = zoekt{}.version(ctx)
	}
	return m, nil
}

// emptyFolder returns the absolute path of a folder that is empty or not there.
func emptyFolder(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if entries, err := os.ReadDir(abs); err == nil && len(entries) > 0 {
		return "", fmt.Errorf("%s is not empty", abs)
	}
	return abs, nil
}

func (m *manyRun) hasPeer() bool { return len(m.Peers) > 0 }

func (m *manyRun) problem(format string, args ...any) {
	m.report.Problems = append(m.report.Problems, fmt.Sprintf(format, args...))
}

// generate makes the repositories and the configuration file that names them.
func (m *manyRun) generate(ctx context.Context) (err error) {
	m.Note(fmt.Sprintf("making %d repositories", m.Repositories))
	start := time.Now()
	if m.report.Fleet, err = m.fleet.write(ctx); err != nil {
		return err
	}
	m.report.Generated = time.Since(start)
	var b bytes.Buffer
	b.WriteString("repositories:\n")
	for i := range m.Repositories {
		r := m.fleet.repository(i)
		fmt.Fprintf(&b, "  - name: %s\n    source: %s\n", r.name, m.fleet.dirOf(r))
	}
	return os.WriteFile(m.trawl.config, b.Bytes(), 0o644)
}
