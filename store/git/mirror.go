package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// PartialSuffix stands behind the name of a mirror that is still being made.
const PartialSuffix = ".partial"

// OldSuffix stands behind the name of a mirror that another has taken the place
// of.
const OldSuffix = ".old"

// Mirror is the bare mirror of a URL. It guards the URL with its secrets, which is
// where Fetch goes.
type Mirror struct {
	Repo *Repo
	from remote
}

// Mirror returns the bare mirror of a URL in dir, with all refs of the remote
// under their own names. If dir exists it is opened as it is, without a word
// to the remote; Fetch brings it up to date. Otherwise it is cloned beside dir
// and then renamed, so that a crash leaves no half-made mirror there, at most
// folders named dir.partial and dir.old, which the next call recovers as
// RecoverMirror does. No two calls may be at work on the same dir.
//
// progress, which may be nil, is called with the lines git shows about its
// progress, from one goroutine, and not after Mirror has returned. A user name
// and password in an http URL are given to git as that server asks for them,
// and are kept in the Mirror only. To fetch after a restart, call Mirror with the
// URL again.
//
// A URL from an untrusted user needs a proxy. The URL and its redirects are reached
// only through that HTTP proxy, which judges addresses, also by Fetch. The proxy's URL
// may hold a password; other users of the machine do not see it. Without a proxy, "",
// the URL is reached as it is.
func (b *Budget) Mirror(ctx context.Context, proxy, rawURL, dir string, progress func(string)) (*Mirror, error) {
	from, err := parseRemote(proxy, rawURL)
	if err != nil {
		return nil, err
	}
	if err := RecoverMirror(dir); err != nil {
		return nil, fmt.Errorf("mirror %s: %w", from, err)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := b.clone(ctx, from, dir, progress); err != nil {
			return nil, fmt.Errorf("mirror %s: %w", from, err)
		}
	}
	repo, err := b.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Mirror{repo, from}, nil
}

// Renew makes the mirror in dir anew, as Mirror does where there is none, and
// puts it in the place of the old one once it is whole. Who reads the old one
// meanwhile may have to open it again.
func (b *Budget) Renew(ctx context.Context, proxy, rawURL, dir string, progress func(string)) error {
	from, err := parseRemote(proxy, rawURL)
	if err != nil {
		return err
	}
	if err := b.clone(ctx, from, dir, progress); err != nil {
		return fmt.Errorf("mirror %s anew: %w", from, err)
	}
	return nil
}

// clone makes a mirror in dir, in the place of what may be there, or leaves that
// as it is.
func (b *Budget) clone(ctx context.Context, from remote, dir string, progress func(string)) error {
	dir = filepath.Clean(dir)
	partial, old := dir+PartialSuffix, dir+OldSuffix
	if err := RecoverMirror(dir); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(partial), os.RemoveAll(old)); err != nil {
		return fmt.Errorf("remove what an earlier attempt left: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	args := append([]string{"clone", "--mirror", "--template="}, from.uploadPack()...)
	args = append(args, "--progress", "--", from.url, partial)
	if err := b.transfer(ctx, from, partial, progress, args...); err != nil {
		_ = os.RemoveAll(partial) // what stays is removed by the next attempt
		return err
	}
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = os.RemoveAll(partial)
		return err
	}
	if err := os.Rename(partial, dir); err != nil {
		_ = os.RemoveAll(partial)
		return errors.Join(err, RecoverMirror(dir))
	}
	// Until the new name is on the disk the old mirror may be all there is.
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	_ = os.RemoveAll(old)
	return nil
}

// RecoverMirror puts the old mirror back into dir if a crash came when it had
// made room for another that is not there yet. The other is made again when it
// is asked for, as after any crash before its end; its source may be gone by
// then, and the old mirror all that is left.
func RecoverMirror(dir string) error {
	dir = filepath.Clean(dir)
	if _, err := os.Lstat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(dir+OldSuffix, dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("put the old mirror back: %w", err)
	}
	return syncDir(filepath.Dir(dir))
}

// Origin returns the URL that the mirror at dir was fetched from.
func Origin(ctx context.Context, dir string) (string, error) {
	rawURL, err := (&runner{gitDir: dir}).output(ctx, "config", "--get", "remote.origin.url")
	if err != nil {
		return "", fmt.Errorf("%s has no remote named origin", dir)
	}
	return rawURL, nil
}

// Fetch brings a mirror up to date with its remote: new and moved refs are
// taken over, those the remote dropped are dropped, and HEAD follows the
// remote's. progress is as for Mirror. git may repack the mirror as part of it.
func (m *Mirror) Fetch(ctx context.Context, progress func(string)) error {
	if err := m.fetch(ctx, progress); err != nil {
		return fmt.Errorf("fetch %s: %w", m.from, err)
	}
	return nil
}

// FetchCommits takes over commits by their ids from the remote of a mirror, as far as
// that gives out commits that no ref of it leads to. They stay while a ref of the
// mirror leads to them.
func (m *Mirror) FetchCommits(ctx context.Context, commits []string) error {
	args := append([]string{"fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"}, m.from.uploadPack()...)
	args = append(append(args, "--progress", "--", m.from.url), commits...)
	if err := m.Repo.git.transfer(ctx, m.from, nil, args...); err != nil {
		return fmt.Errorf("fetch commits from %s: %w", m.from, err)
	}
	return nil
}

// fetch takes over refs and then HEAD, which git fetch leaves alone: a renamed
// default branch would leave HEAD naming nothing.
func (m *Mirror) fetch(ctx context.Context, progress func(string)) error {
	ref, commit, err := m.remoteHead(ctx)
	if err != nil {
		return err
	}
	args := append([]string{"fetch", "--prune", "--force", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"}, m.from.uploadPack()...)
	args = append(args, "--progress", "--", m.from.url, "+refs/*:refs/*")
	var head []string
	switch {
	case ref != "":
		head = []string{"symbolic-ref", "HEAD", ref}
	case commit != "":
		args = append(args, commit) // a detached HEAD need not be on any branch
		head = []string{"update-ref", "--no-deref", "HEAD", commit}
	}
	if err := m.Repo.git.transfer(ctx, m.from, progress, args...); err != nil {
		return err
	}
	if head == nil {
		return nil // the remote is empty
	}
	_, err = m.Repo.git.output(ctx, head...)
	return err
}

// remoteHead asks where the remote's HEAD points: at a ref, or if it is
// detached at a commit.
func (m *Mirror) remoteHead(ctx context.Context) (ref, commit string, err error) {
	args := append(m.Repo.git.args("ls-remote", "--symref"), m.from.uploadPack()...)
	ctx, cancel := within(ctx, silentWithin)
	defer cancel()
	answer, err := m.Repo.git.outputOf(ctx, remoteCommand(ctx, m.from, append(args, "--", m.from.url, "HEAD")...), "ls-remote")
	if err != nil {
		return "", "", err
	}
	ref, commit = parseHead(answer)
	return ref, commit, nil
}

// parseHead reads "ref: refs/heads/main\tHEAD" and "<oid>\tHEAD".
func parseHead(answer string) (ref, commit string) {
	for line := range strings.SplitSeq(answer, "\n") {
		value, name, _ := strings.Cut(line, "\t")
		if name != "HEAD" {
			continue
		}
		if target, ok := strings.CutPrefix(value, "ref: "); ok {
			if strings.HasPrefix(target, "refs/") {
				ref = target
			}
		} else if isObjectID(value) {
			commit = value
		}
	}
	return ref, commit
}

// transfer runs a command that talks to a remote and fills dir, shows progress,
// and ends the command when it takes too much.
func (b *Budget) transfer(ctx context.Context, from remote, dir string, progress func(string), args ...string) error {
	if err := b.confineLocal(ctx, from); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	cmd := remoteCommand(ctx, from, args...)
	tail := &stderrTail{progress: progress, address: from.address}
	cmd.Stderr = tail
	return b.watched(ctx, end, cmd, subcommand(args), watching(from, dir, tail))
}

// watched runs a command whose standard error is that of the watch, and ends it
// by end when it takes too much.
func (b *Budget) watched(ctx context.Context, end context.CancelCauseFunc, cmd *exec.Cmd, name string, w *watch) (err error) {
	if err := b.wait(ctx); err != nil {
		return fmt.Errorf("git %s: %w", name, err)
	}
	defer traced(ctx, cmd, name)(&err)
	if err := cmd.Start(); err != nil {
		return startError(ctx, name, err)
	}
	watched, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		w.follow(ended, cmd, end)
	}()
	leave := b.enter(&member{taken: func() int64 { return w.taken(cmd.Process.Pid) }, end: end})
	err = cmd.Wait()
	leave()
	close(ended)
	<-watched
	return waitError(ctx, name, stderrOf(cmd), err)
}

func remoteCommand(ctx context.Context, from remote, args ...string) *exec.Cmd {
	config, env := from.credentials()
	cmd := command(ctx, from.transports, append(config, args...)...)
	cmd.Env = append(append(cmd.Env, env...), from.throughProxy()...)
	cmd.Stderr = &stderrTail{address: from.address}
	return cmd
}

// subcommand returns the first argument that is not an option of git's own, nor the
// value of one.
func subcommand(args []string) string {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || args[i-1] != "-c") {
			return arg
		}
	}
	return ""
}

// syncDir makes a renaming in dir outlive a power failure.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
