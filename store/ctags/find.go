package ctags

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ErrNotFound says that there is no universal-ctags that can be used.
var ErrNotFound = errors.New("universal-ctags is not installed")

// candidates are the names under which systems install it; the second may be
// another program.
var candidates = []string{"ctags-universal", "ctags"}

// Find returns the path of a universal-ctags that takes text through a pipe and
// answers in JSON. Its error is ErrNotFound, with the reason.
func Find() (string, error) {
	reason := ErrNotFound
	for _, name := range candidates {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		features, err := list(path, "--list-features")
		if err != nil {
			reason = fmt.Errorf("%w: %s is another ctags", ErrNotFound, path)
			continue
		}
		if missing := missingFeature(features); missing != "" {
			reason = fmt.Errorf("%w: %s was built without %s", ErrNotFound, path, missing)
			continue
		}
		return path, nil
	}
	return "", reason
}

// Version returns the version of the program at a path, such as "5.9.0".
func Version(path string) (string, error) {
	lines, err := list(path, "--version")
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(lines[0], "Universal Ctags "), ",")
	version, _, _ = strings.Cut(version, "(")
	return version, nil
}

func missingFeature(features []string) string {
	for _, want := range []string{"json", "interactive"} {
		if !hasFeature(features, want) {
			return want
		}
	}
	return ""
}

func hasFeature(features []string, want string) bool {
	for _, line := range features {
		if name, _, _ := strings.Cut(line, " "); name == want {
			return true
		}
	}
	return false
}

// listWithin is how long ctags may take to list its languages and kinds.
const listWithin = 30 * time.Second

// list returns the lines that ctags prints for one of its --list options.
func list(path, option string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--options=NONE", option)
	cmd.Env, cmd.Dir = environment, "/"
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", path, option, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// environment keeps the user's options and language out.
var environment = []string{"HOME=/nonexistent", "LC_ALL=C.UTF-8"}
