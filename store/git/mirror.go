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

// Mirror returns the bare mirror of a URL in dir, with all refs of the remote
// under their own names. If dir exists it is opened as it is, without a word
// to the remote; Fetch brings it up to date. Otherwise it is cloned beside dir
// and then renamed, so that a crash leaves no half-made mirror there, at most
// folders named dir.partial and dir.old, which the next call settles as
// SettleMirror does. No two calls may be at work on the same dir.
//
// progress, which may be nil, is called with the lines git shows about its
// progress, from one goroutine, and not after Mirror has returned. A user name
// and password in an http URL are given to git as that server asks for them,
// and are kept in the Repo only. To fetch after a restart, call Mirror with the
// URL again.
func Mirror(ctx context.Context, rawURL, dir string, progress func(string)) (*Repo, error) {
	return (*Budget)(nil).Mirror(ctx, rawURL, dir, progress)
}

// Mirror is the function Mirror of a repository whose processes share the
// budget.
func (b *Budget) Mirror(ctx context.Context, rawURL, dir string, progress func(string)) (*Repo, error) {
	from, err := parseRemote(rawURL)
	if err != nil {
		return nil, err
	}
	return b.mirror(ctx, from, dir, progress)
}

func (b *Budget) mirror(ctx context.Context, from remote, dir string, progress func(string)) (*Repo, error) {
	if err := SettleMirror(dir); err != nil {
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
	repo.remote = from
	return repo, nil
}

// Renew makes the mirror in dir anew, as Mirror does where there is none, and
// puts it in the place of the old one once it is whole. Who reads the old one
// meanwhile may have to open it again.
func (b *Budget) Renew(ctx context.Context, rawURL, dir string, progress func(string)) error {
	from, err := parseRemote(rawURL)
	if err != nil {
		return err
	}
	return b.renew(ctx, from, dir, progress)
}

func (b *Budget) renew(ctx context.Context, from remote, dir string, progress func(string)) error {
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
	if err := SettleMirror(dir); err != nil {
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
		return errors.Join(err, SettleMirror(dir))
	}
	// Until the new name is on the disk the old mirror may be all there is.
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	_ = os.RemoveAll(old)
	return nil
}

// SettleMirror puts the old mirror back into dir if a crash came when it had
// made room for another that is not there yet. The other is made again when it
// is asked for, as after any crash before its end; its source may be gone by
// then, and the old mirror all that is left.
func SettleMirror(dir string) error {
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
func Origin(ctx context.Context, dir string) (string, error) { return (&Repo{gitDir: dir}).origin(ctx) }

func (r *Repo) origin(ctx context.Context) (string, error) {
	rawURL, err := r.budget.output(ctx, command(ctx, noTransport, r.args("config", "--get", "remote.origin.url")...), "config")
	if err != nil {
		return "", fmt.Errorf("%s has no remote named origin", r.gitDir)
	}
	return rawURL, nil
}

// Fetch brings a mirror up to date with its remote: new and moved refs are
// taken over, those the remote dropped are dropped, and HEAD follows the
// remote's. progress is as for Mirror. git may repack the mirror as part of it.
func (r *Repo) Fetch(ctx context.Context, progress func(string)) error {
	from := r.remote
	if from.url == "" {
		rawURL, err := r.origin(ctx)
		if err != nil {
			return fmt.Errorf("fetch into %s: %w", r.dir, err)
		}
		if from, err = parseRemote(rawURL); err != nil {
			return fmt.Errorf("fetch into %s: %w", r.dir, err)
		}
	}
	if err := r.fetch(ctx, from, progress); err != nil {
		return fmt.Errorf("fetch %s: %w", from, err)
	}
	return nil
}

// FetchCommits takes over commits by their ids from the remote of a mirror, as far as
// that gives out commits that no ref of it leads to. They stay while a ref of the
// mirror leads to them.
func (r *Repo) FetchCommits(ctx context.Context, commits []string) error {
	args := append(r.args("fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"), r.remote.uploadPack()...)
	args = append(append(args, "--progress", "--", r.remote.url), commits...)
	if err := r.budget.transfer(ctx, r.remote, r.gitDir, nil, args...); err != nil {
		return fmt.Errorf("fetch commits from %s: %w", r.remote, err)
	}
	return nil
}

// SetBranches has branches name commits that the repository has, and HEAD the first of
// them. One without a name is HEAD itself, detached.
func (r *Repo) SetBranches(ctx context.Context, branches []Branch) error {
	var in strings.Builder
	for _, b := range branches {
		if b.Name == "" {
			fmt.Fprintf(&in, "option no-deref\nupdate HEAD %s\n", b.Commit)
		} else {
			fmt.Fprintf(&in, "update %s%s %s\n", headsPrefix, b.Name, b.Commit)
		}
	}
	cmd := command(ctx, noTransport, r.args("update-ref", "--stdin")...)
	cmd.Stdin = strings.NewReader(in.String())
	_, err := r.budget.output(ctx, cmd, "update-ref")
	if err == nil && len(branches) > 0 && branches[0].Name != "" {
		_, err = r.budget.output(ctx, command(ctx, noTransport, r.args("symbolic-ref", "HEAD", headsPrefix+branches[0].Name)...), "symbolic-ref")
	}
	if err != nil {
		return fmt.Errorf("set branches of %s: %w", r.dir, err)
	}
	return nil
}

// fetch takes over refs and then HEAD, which git fetch leaves alone: a renamed
// default branch would leave HEAD naming nothing.
func (r *Repo) fetch(ctx context.Context, from remote, progress func(string)) error {
	ref, commit, err := r.remoteHead(ctx, from)
	if err != nil {
		return err
	}
	args := append(r.args("fetch", "--prune", "--force", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"), from.uploadPack()...)
	args = append(args, "--progress", "--", from.url, "+refs/*:refs/*")
	var head []string
	switch {
	case ref != "":
		head = []string{"symbolic-ref", "HEAD", ref}
	case commit != "":
		args = append(args, commit) // a detached HEAD need not be on any branch
		head = []string{"update-ref", "--no-deref", "HEAD", commit}
	}
	if err := r.budget.transfer(ctx, from, r.gitDir, progress, args...); err != nil {
		return err
	}
	if head == nil {
		return nil // the remote is empty
	}
	_, err = r.budget.output(ctx, command(ctx, noTransport, r.args(head...)...), head[0])
	return err
}

// remoteHead asks where the remote's HEAD points: at a ref, or if it is
// detached at a commit.
func (r *Repo) remoteHead(ctx context.Context, from remote) (ref, commit string, err error) {
	args := append(r.args("ls-remote", "--symref"), from.uploadPack()...)
	ctx, cancel := within(ctx, silentWithin)
	defer cancel()
	answer, err := r.budget.output(ctx, remoteCommand(ctx, from, append(args, "--", from.url, "HEAD")...), "ls-remote")
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

// subcommand returns the first argument that is not an option of git's own.
func subcommand(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
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
