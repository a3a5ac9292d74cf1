package needs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// debian maps programs to the Debian packages that bring them, "" for none. The
// package of other programs has their name.
var debian = map[string]string{
	"ctags":            "universal-ctags",
	"rg":               "ripgrep",
	"promtool":         "prometheus",
	"systemd-analyze":  "systemd",
	"git-http-backend": "git",
	"postgres":         "postgresql",
	"initdb":           "postgresql",
	"psql":             "postgresql-client",
	"src":              "",
	"sh":               "dash",
	"sleep":            "coreutils",
	"cat":              "coreutils",
	"head":             "coreutils",
	"sed":              "sed",
	"yes":              "coreutils",
	"sort":             "coreutils",
}

// Program returns the path of the first of names that is installed. Servers are
// found in /usr/sbin too, which the PATH of ordinary users may lack, and where Debian
// has those of PostgreSQL, the newest first. Both only if /usr/bin is on the PATH: a PATH
// without it names all programs that a test may find. If none is installed, Program skips
// the test.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		paths := []string{name}
		if slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool { return filepath.Clean(dir) == "/usr/bin" }) {
			servers, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
			slices.Reverse(servers)
			paths = append(append(paths, "/usr/sbin/"+name), servers...)
		}
		for _, path := range paths {
			if found, err := exec.LookPath(path); err == nil {
				return found
			}
		}
	}
	Skip(t, names[0], exec.ErrNotFound)
	return ""
}

// Has tells whether a program is installed. If not, it logs what the test leaves
// out.
func Has(t testing.TB, program, leftOut string) bool {
	t.Helper()
	_, err := exec.LookPath(program)
	if err != nil {
		t.Log(Missing(leftOut, program, err))
	}
	return err == nil
}

// Skip skips the test, as err says that a program is missing.
func Skip(t testing.TB, program string, err error) {
	t.Helper()
	t.Skip(Missing(t.Name(), program, err))
}

// Missing says in one line what is left out without a program, and which package
// brings the program.
func Missing(leftOut, program string, err error) string {
	pkg, ok := debian[program]
	switch {
	case !ok:
		pkg = "Debian package " + program
	case pkg == "":
		pkg = "no Debian package"
	default:
		pkg = "Debian package " + pkg
	}
	return fmt.Sprintf("left out %s: %s: %v (%s)", leftOut, program, err, pkg)
}
