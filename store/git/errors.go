package git

import (
	"errors"
	"strings"
	"unicode"

	"github.com/trawlsearch/trawl/store/redact"
)

var (
	// ErrNotRepository says that a directory holds no git repository.
	ErrNotRepository = errors.New("no git repository")
	// ErrEmpty says that HEAD leads to no commit: a repository without any, or
	// one whose HEAD names a branch that does not exist.
	ErrEmpty = errors.New("no commit")
	// ErrNoRevision says that a revision names nothing in the repository.
	ErrNoRevision = errors.New("no such revision")
	// ErrURL says that a URL is malformed or of a kind that is not allowed.
	ErrURL = errors.New("unusable repository URL")
)

// Errors of one blob; the others of the same read are not concerned.
var (
	// ErrTooLarge says that a blob is larger than the caller wanted.
	ErrTooLarge = errors.New("blob too large")
	// ErrMissing says that the repository does not hold an object, or nothing
	// git recognises as one.
	ErrMissing = errors.New("object missing")
	// ErrCorrupt says that git cannot read an object the repository holds.
	ErrCorrupt = errors.New("object corrupt")
	// ErrNotBlob says that an object is a tree, a commit or a tag.
	ErrNotBlob = errors.New("not a blob")
)

// CommandError is a git command that ended badly.
type CommandError struct {
	Command string // the subcommand, such as "ls-tree"
	Message string // the last line git wrote to its standard error, or ""
	Err     error  // how the process ended
}

// Error is one line, without passwords and control characters.
func (e *CommandError) Error() string {
	message := e.Message
	if message == "" {
		message = e.Err.Error()
	}
	return "git " + e.Command + ": " + message
}

// Unwrap returns how the process ended.
func (e *CommandError) Unwrap() error { return e.Err }

// maxMessageBytes bounds what a remote can put into our errors.
const maxMessageBytes = 400

// printable makes one line of git's, part of which a remote may have written,
// fit to be shown: no secrets of URLs, no control characters, bounded.
func printable(line string) string {
	line = strings.ToValidUTF8(line, "\uFFFD")
	line = redact.Text(line)
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, line)
	line = strings.TrimSpace(line)
	if len(line) > maxMessageBytes {
		line = strings.ToValidUTF8(line[:maxMessageBytes], "") + "…"
	}
	return line
}

// lastMessage picks the line that says what went wrong from what git wrote to
// its standard error: the last fatal or error line, or else the last line that
// is not advice.
func lastMessage(stderr string) string {
	last := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(stderr, "\r", "\n"), "\n") {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"fatal: ", "error: "} {
			if message, ok := strings.CutPrefix(line, prefix); ok {
				last = message
			}
		}
	}
	if last != "" {
		return printable(last)
	}
	for line := range strings.SplitSeq(stderr, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint: ") {
			last = line
		}
	}
	return printable(last)
}
