//go:build unix

package postgrestest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/trawlsearch/trawl/internal/needs"
)

// WithPassword is the name of the only role that needs a password, once a test has
// made it.
const WithPassword = "secretive"

// Template is an empty database cluster, of which every server gets a copy. It is
// made when it is first needed: initdb takes most of a second, a copy 50 ms. The zero
// Template is ready to use; TestMain removes it.
type Template struct {
	once sync.Once
	dir  string
	err  error
}

// Remove removes the files of the template. It is called once, after all tests.
func (p *Template) Remove() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// Start starts a server for a test. Settings are those of postgresql.conf, such as
// "fsync=on"; by default nothing is synced, so a server may be killed, but not the
// machine.
func (p *Template) Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	postgres := needs.Program(t, "postgres")
	initdb := needs.Program(t, "initdb")
	p.once.Do(func() { p.dir, p.err = makeTemplate(initdb) })
	if p.err != nil {
		t.Fatal(p.err)
	}
	dir, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, postgres: postgres, dir: dir, settings: settings}
	t.Cleanup(s.remove)
	if err := copyFolder(filepath.Join(dir, "data"), filepath.Join(p.dir, "data")); err != nil {
		t.Fatal(err)
	}
	s.Start()
	return s
}

// newFolder makes a folder for the server's user. Its path is short, since that of a
// socket has to be.
func newFolder() (string, error) {
	dir, err := os.MkdirTemp("", "trawlpg")
	if err != nil {
		return "", err
	}
	return dir, own(dir)
}

func makeTemplate(initdb string) (string, error) {
	dir, err := newFolder()
	if err != nil {
		return dir, err
	}
	cmd := exec.Command(initdb, "--no-sync", "--no-instructions", "--auth=trust", "--username=postgres",
		"--encoding=UTF8", "--locale=C", "--wal-segsize=1", "-D", filepath.Join(dir, "data"))
	cmd.Dir = dir
	if cmd.SysProcAttr, err = attributes(); err != nil {
		return dir, err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	access := "local all " + WithPassword + " scram-sha-256\nlocal all all trust\n"
	return dir, os.WriteFile(filepath.Join(dir, "data", "pg_hba.conf"), []byte(access), 0o600)
}

// copyFolder copies folders and files for the server's user.
func copyFolder(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		if d.IsDir() {
			err = os.Mkdir(target, 0o700)
		} else {
			err = copyFile(target, path)
		}
		if err != nil {
			return err
		}
		return own(target)
	})
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// own gives a file to the server's user.
func own(path string) error {
	a, err := attributes()
	if err != nil || a.Credential == nil {
		return err
	}
	return os.Lchown(path, int(a.Credential.Uid), int(a.Credential.Gid))
}

// attributes has processes run as another user if root runs the tests, as
// PostgreSQL refuses to serve as root.
func attributes() (*syscall.SysProcAttr, error) {
	a := &syscall.SysProcAttr{Setpgid: true} // ^C is for the tests, which then stop the servers
	if os.Geteuid() != 0 {
		return a, nil
	}
	var err error
	a.Credential, err = otherUser()
	return a, err
}
