package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// ManyCommit is one commit in one of the repositories, from the request to sync
// it on.
type ManyCommit struct {
	Repository string `json:"repository"`
	// Found is when a search found its word, Synced when the server reported the
	// end of the sync.
	Found  time.Duration `json:"foundNanos"`
	Synced time.Duration `json:"syncedNanos"`
	// Read is when the server reported that it had read the commit and began to
	// commit it to the index; 0 if it did not, as it had seen the commit by itself.
	Read time.Duration `json:"readNanos"`
}

// AfterRead returns how long the commit was read and could not be found.
func (c ManyCommit) AfterRead() time.Duration { return c.Found - c.Read }

// addedWord is the word of the n-th commit that is added.
func addedWord(n int) string { return fmt.Sprintf("xadded_%06d_here", n) }

// commits adds a commit to some of the repositories, one after the other, and
// waits for each to be found.
func (m *manyRun) commits(ctx context.Context, s *manyServer) error {
	m.Note("syncing single commits")
	for n := range m.Commits {
		r := m.fleet.repository(m.fleet.forked(m.Repositories * n / m.Commits))
		if err := m.fleet.addCommit(ctx, r, n); err != nil {
			return err
		}
		facts, err := m.follow(ctx, s, r.name, addedWord(n))
		if err != nil {
			return err
		}
		m.report.Commits = append(m.report.Commits, facts)
	}
	return nil
}

// addCommit adds a file with a word to the default branch.
func (f *fleet) addCommit(ctx context.Context, r fleetRepository, n int) error {
	var in bytes.Buffer
	message, text := fmt.Sprintf("add %d", n), addedWord(n)+"\n"
	fmt.Fprintf(&in, "commit refs/heads/main\ncommitter trawl-bench <trawl-bench@localhost> %d +0000\ndata %d\n%s\n",
		1_800_000_000+n, len(message), message)
	fmt.Fprintf(&in, "from refs/heads/main^0\nM 100644 inline added/%d.txt\ndata %d\n%s\n", n, len(text), text)
	_, err := gitRepo{dir: f.dirOf(r)}.feed(ctx, in.Bytes(), "fast-import", "--quiet")
	return err
}

// foundWithin bounds the wait for a commit.
const foundWithin = time.Minute

// follow syncs a repository and searches until word is found.
func (m *manyRun) follow(ctx context.Context, s *manyServer, name, word string) (ManyCommit, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, foundWithin, fmt.Errorf("%s is not found within %s", word, foundWithin))
	defer cancel()
	facts := ManyCommit{Repository: name}
	synced := make(chan error, 1)
	start := time.Now()
	go func() { synced <- s.sync(ctx, start, &facts) }()
	for facts.Found == 0 {
		a, err := s.search(ctx, word, "keyword", nil)
		if err != nil {
			cancel()
			<-synced
			return facts, err
		}
		if a.Results > 0 {
			facts.Found = time.Since(start)
		} else if !pause(ctx, time.Millisecond) {
			<-synced
			return facts, context.Cause(ctx)
		}
	}
	return facts, <-synced
}

// commitPhase is what the server calls the part of a sync behind the reading.
const commitPhase = "commit"

// sync asks the server to look at the repository of facts now and notes how far
// it is when. It leaves the field Found alone.
func (s *manyServer) sync(ctx context.Context, start time.Time, facts *ManyCommit) error {
	out := &lastLine{onPhase: func(phase string) {
		if phase == commitPhase && facts.Read == 0 {
			facts.Read = time.Since(start)
		}
	}}
	err := s.operator.call(ctx, http.MethodPost, "repositories/sync", url.Values{"name": {facts.Repository}}, nil, out)
	facts.Synced = time.Since(start)
	return err
}
