package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/span"
)

// reapDelay is how long a killed child's pipes may stay open, in case it left
// its process group.
const reapDelay = 5 * time.Second

// keptEnvironment is what children inherit: how to find programs and keys, and
// how to reach the network. Everything else, above all GIT_*, is dropped.
var keptEnvironment = []string{
	"PATH", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "SSH_AUTH_SOCK",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT", "COMSPEC", "PATHEXT",
}

// hardening goes before every subcommand.
var hardening = []string{
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.fsmonitor=false",
	"-c", "core.askPass=",
	"-c", "credential.helper=",
	"-c", "protocol.ext.allow=never",
	"-c", "submodule.recurse=false",
	"-c", "gc.autoDetach=false", // a detached one would outlive us
	"-c", "maintenance.autoDetach=false",
	"-c", "core.sharedRepository=0600", // the mode of what git writes into mirrors, whatever the umask
	"-c", "safe.directory=*", // whose the files are does not matter to who only reads them
	// Settings by which a repository's own configuration would change answers.
	// Most are overridden by options of the commands; these have none.
	// diff.default.xfuncname stays, which chooses the line behind the @@ of a
	// hunk: naming git's own choice, as a regular expression, makes diffs a
	// third slower.
	"-c", "core.attributesFile=" + os.DevNull,
	"-c", "i18n.logOutputEncoding=UTF-8",
	"-c", "i18n.commitEncoding=UTF-8",
	"-c", "log.showRoot=true",
	"-c", "mailmap.file=",
	"-c", "mailmap.blob=",
	"-c", "diff.default.binary=auto",
	"--no-pager",
	"--no-replace-objects", // what a commit holds must not depend on refs/replace
}

// noTransport allows no way of talking to another repository: it names a
// protocol that does not exist. A partial clone then cannot fetch lazily.
const noTransport = "none"

// command prepares a git child. transports lists the protocols it may use,
// separated by colons.
func command(ctx context.Context, transports string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(hardening, frugal, args)...)
	cmd.Env = environment(transports)
	cmd.WaitDelay = reapDelay
	ownProcessGroup(cmd)
	cmd.Cancel = func() error { return killProcessGroup(cmd) }
	return cmd
}

func environment(transports string) []string {
	env := []string{
		"LC_ALL=C", // errors are recognised by their text
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		// Without a home there is no .netrc, which has credentials that are not for
		// every URL a user may name, and no attributes. ssh finds its keys without.
		"HOME=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"SSH_ASKPASS=",
		"GIT_SSH_COMMAND=ssh -o BatchMode=yes",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=" + transports,
	}
	for _, name := range keptEnvironment {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// output runs a command and returns what it wrote, without the final newline. It
// does not wait for others.
func (b *Budget) output(ctx context.Context, cmd *exec.Cmd, name string) (answer string, err error) {
	defer traced(ctx, cmd, name)(&err)
	asker := ctx
	ctx, cancel := within(ctx, commandWithin)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr := stderrOf(cmd)
	leave, err := b.start(cmd, end)
	if err != nil {
		return "", startError(ctx, name, err)
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Cancel() })()
	err = cmd.Wait()
	leave()
	if asker.Err() != nil {
		ctx = asker // what killed the command may not have reached the contexts behind it
	}
	if err := waitError(ctx, name, stderr, err); err != nil {
		return "", err
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// stream runs a command, which prepare changes before it starts if it is not nil,
// and has parse read its output. An error of parse's ends the command and is
// returned as it is.
func (b *Budget) stream(ctx context.Context, name string, prepare func(*exec.Cmd), parse func(*bufio.Reader) error, args ...string) (err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if err := b.wait(ctx); err != nil {
		return fmt.Errorf("git %s: %w", name, err)
	}
	cmd := command(ctx, noTransport, args...)
	if prepare != nil {
		prepare(cmd)
	}
	defer traced(ctx, cmd, name)(&err)
	stderr := stderrOf(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git %s: %w", name, err)
	}
	leave, err := b.start(cmd, end)
	if err != nil {
		return startError(ctx, name, err)
	}
	defer leave()
	out := b.readerOf(stdout, end)
	parseErr := parse(out.Reader)
	b.giveBack(out)
	truncated := errors.Is(parseErr, errTruncated)
	if parseErr != nil && !truncated && ctx.Err() == nil {
		end(nil)
		_ = cmd.Wait() // it was killed for parse's sake
		return parseErr
	}
	if err := waitError(ctx, name, stderr, cmd.Wait()); err != nil {
		return err // says why the output was cut short
	}
	return parseErr
}

// traced begins the span of a child, passes it on in the environment, and
// returns the function that ends it.
func traced(ctx context.Context, cmd *exec.Cmd, name string) (end func(*error)) {
	within, ended := span.Start(ctx, "git", name)
	if parent := span.Parent(within); parent != "" {
		cmd.Env = append(cmd.Env, "TRACEPARENT="+parent)
	}
	return func(err *error) { ended(*err) }
}

// errTruncated says that git's output ended inside a record.
var errTruncated = errors.New("output ends inside a record")

// field reads up to and with the next NUL and returns what stands before it,
// valid until the next read. At the end of the output it returns io.EOF.
func field(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice(0)
	if errors.Is(err, bufio.ErrBufferFull) {
		head := bytes.Clone(line)
		line, err = r.ReadBytes(0)
		line = append(head, line...)
	}
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case len(line) == 0 && errors.Is(err, io.EOF):
		return nil, io.EOF
	}
	return nil, errTruncated
}

func startError(ctx context.Context, name string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("git %s: %w", name, cause)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("git is not installed or not in PATH; install git 2.31 or newer: %w", err)
	}
	return fmt.Errorf("start git %s: %w", name, err)
}

// waitError turns how a command ended into our error. A cancelled context
// outranks what the killed command had to say.
func waitError(ctx context.Context, name string, stderr *stderrTail, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("git %s: %w", name, cause)
	}
	failed := &CommandError{Command: name, Message: lastMessage(stderr.String()), Err: err}
	if ranOutOfStack(err) {
		return fmt.Errorf("%w for want of stack, as by a tree that is nested tens of thousands deep: %w", ErrTooCostly, failed)
	}
	if outOfMemory(failed.Message) {
		return fmt.Errorf("%w for want of memory, as after objects that are far larger than their pack: %w", ErrTooCostly, failed)
	}
	return failed
}

// stderrOf gives a command a standard error to read afterwards, unless it has
// one already.
func stderrOf(cmd *exec.Cmd) *stderrTail {
	if tail, ok := cmd.Stderr.(*stderrTail); ok {
		return tail
	}
	tail := &stderrTail{}
	cmd.Stderr = tail
	return tail
}
