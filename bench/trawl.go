package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// trawl is the program under test: a binary and the data directory it is given.
type trawl struct {
	binary string
	data   string
	token  string
	// config is a configuration file, "" for none.
	config string
	// serveArgs are added to every trawl serve.
	serveArgs []string
	// symbols says that definitions are read too.
	symbols bool
	// history says that commits are read, too, which no peer indexes.
	history bool
	// memory is the setting of that name, "" for trawl's own choice.
	memory string
	// historyDiffs is the setting history-diffs, "" for trawl's own choice.
	historyDiffs string
}

// BuildTrawl compiles trawl without cgo, as releases do, and returns the binary's path in dir.
// It must be called from within the module.
func BuildTrawl(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "trawl")
	// GOFLAGS may ask for the race detector, and git may refuse to read a clone
	// that belongs to another user.
	cmd := exec.CommandContext(ctx, "go", "build", "-race=false", "-buildvcs=false", "-o", binary, "github.com/trawlsearch/trawl/cmd/trawl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build trawl: %w: %s", err, lastBytes(out, 2000))
	}
	return binary, nil
}

// env is the environment of what is measured. Unless definitions are asked for,
// text is indexed and searched without universal-ctags at work beside it, which
// is not installed everywhere.
func (t *trawl) env() []string {
	env := append(os.Environ(), "TRAWL_SYMBOLS="+strconv.FormatBool(t.symbols))
	if t.memory != "" {
		env = append(env, "TRAWL_MEMORY="+t.memory)
	}
	if !t.history {
		env = append(env, "TRAWL_HISTORY_MESSAGES=0")
	}
	if t.historyDiffs != "" {
		env = append(env, "TRAWL_HISTORY_DIFFS="+t.historyDiffs)
	}
	return env
}

// configured returns the flag that names the configuration file, if there is one.
func (t *trawl) configured() []string {
	if t.config == "" {
		return nil
	}
	return []string{"--config", t.config}
}

// index runs trawl index on the repositories, or on those of the configuration
// file if none are given, and returns what it took.
func (t *trawl) index(ctx context.Context, repositories ...string) (Usage, error) {
	args := slices.Concat([]string{"index", "--data", t.data}, t.configured(), repositories)
	cmd := exec.CommandContext(ctx, t.binary, args...)
	cmd.Env = t.env()
	u, err := measure(cmd)
	if err != nil {
		return u, fmt.Errorf("trawl index: %w", err)
	}
	return u, nil
}

// Skipped is a path whose content trawl says it does not search.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Bytes  int64  `json:"size"`
}

// skipped asks trawl what it left out of the named repository. No server may
// be running, since only one process opens a data directory.
func (t *trawl) skipped(ctx context.Context, name string) ([]Skipped, error) {
	cmd := exec.CommandContext(ctx, t.binary, "repo", "skipped", "--data", t.data, "--json", name)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("trawl repo skipped %q: %w", name, withStderr(err))
	}
	var all []Skipped
	lines := json.NewDecoder(bytes.NewReader(out))
	for {
		var s Skipped
		err := lines.Decode(&s)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("trawl repo skipped %q: decode: %w", name, err)
		}
		all = append(all, s)
	}
}

// version returns what the binary calls itself, for the report only.
func (t *trawl) version(ctx context.Context) string {
	if v := firstLine(exec.CommandContext(ctx, t.binary, "version")); v != unknownVersion {
		return v
	}
	return firstLine(exec.CommandContext(ctx, t.binary, "--version"))
}

const unknownVersion = "unknown"

func firstLine(cmd *exec.Cmd) string {
	out, err := cmd.Output()
	if err != nil {
		return unknownVersion
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
