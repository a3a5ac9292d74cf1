package bench

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// workspace is where a tool works: the corpus, and a directory of its own that may
// hold its index.
type workspace struct {
	source *source
	dir    string
}

// tool is trawl or a peer, as far as both are asked alike.
type tool interface {
	name() string
	// cannot says why the tool has no such question, "" if it has.
	cannot(q Query) string
	// reads names the directories whose files the tool's searches read.
	reads(at workspace) []string
	// start returns the tool ready to be asked; its index must be there.
	start(ctx context.Context, at workspace) (engine, error)
}

// engine is a running tool. Its starter must call stop.
type engine interface {
	// answer asks for everything that q means. The set is sorted.
	answer(ctx context.Context, q Query) (LineSet, error)
	// ask reads the answer without looking at it, for its times. It ends after
	// limit lines, if that is not 0.
	ask(ctx context.Context, q Query, limit int) (PeerRun, error)
	// skipped returns the paths whose text the tool says it does not search;
	// nil is none.
	skipped(ctx context.Context) (map[string]bool, error)
	// process is the tool's server, nil if it has none.
	server() *process
	stop() error
}

// peer is another search tool.
type peer interface {
	tool
	// programs are the binaries it consists of.
	programs() []string
	// version returns what it calls itself.
	version(ctx context.Context) string
	// decodesWide reports whether the tool reads UTF-16 files.
	decodesWide() bool
	// sees reports whether the tool finds all that q asks for; if not, what
	// it finds must still be part of the answer.
	sees(q Query) bool
	// index makes the tool's index. It returns nil if the tool has none.
	index(ctx context.Context, at workspace) (*IndexFacts, error)
}

// peers are the tools we know, by the name that users give.
var peers = []peer{grepPeer{ripgrep{}}, grepPeer{gitGrep{}}, zoekt{}, csearch{grepPeer{csearchGrep{}}}}

// findPeers returns the peers of these names, or all whose programs are there
// if names is nil.
func findPeers(names []string) ([]peer, error) {
	var found []peer
	if names == nil {
		for _, p := range peers {
			if missing(p) == nil {
				found = append(found, p)
			}
		}
		return found, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.name() == name })
		if i < 0 {
			return nil, fmt.Errorf("no peer %q; there are %s", name, strings.Join(peerNames(peers), ", "))
		}
		if err := missing(peers[i]); err != nil {
			return nil, fmt.Errorf("peer %s: %w", name, err)
		}
		found = append(found, peers[i])
	}
	return found, nil
}

// missing returns an error if a program of p is not on PATH.
func missing(p peer) error {
	for _, program := range p.programs() {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	return nil
}

func peerNames(peers []peer) []string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name())
	}
	return names
}

// PeerRun is one run of a peer as the reader of its output saw it.
type PeerRun struct {
	// First is when the first byte of the answer had arrived, 0 if none did.
	First time.Duration `json:"firstNanos"`
	Done  time.Duration `json:"doneNanos"`
}
