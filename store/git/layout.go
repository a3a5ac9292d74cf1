package git

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
)

// plainRepository returns the git directory of the repository in dir, which is free
// of symbolic links, without a process. It knows repositories as git init and git
// clone make them, with SHA-1 for their objects, and returns "" for all else, also
// where git is missing: git judges that.
func plainRepository(dir string) (gitDir string) {
	files, err := plainRefFiles(dir)
	if err != nil {
		return ""
	}
	if _, _, err := files.head(); err != nil {
		return ""
	}
	config, err := readPlain(filepath.Join(files.gitDir, "config"), mostConfigBytes)
	if err != nil || !plainConfig(config) {
		return ""
	}
	if _, err := exec.LookPath("git"); err != nil {
		return ""
	}
	return files.gitDir
}

// configLine is a section, a setting or a comment on a line of its own, without
// quotes, escapes and whatever else takes a parser.
var configLine = regexp.MustCompile(`^[ \t]*(\[[A-Za-z0-9.-]+( "[^"\\]*")?\]|[A-Za-z][A-Za-z0-9-]*[ \t]*=[^"\\]*|[#;].*)?$`)

// plainConfig reports whether a configuration can be read line by line, and has the
// first format version and no extension of it.
func plainConfig(config []byte) bool {
	versions := 0
	for line := range bytes.Lines(config) {
		line = bytes.ToLower(bytes.TrimSuffix(line, []byte("\n")))
		if !configLine.Match(line) || bytes.Contains(line, []byte("extensions")) {
			return false
		}
		if name, value, ok := bytes.Cut(line, []byte("=")); ok && string(bytes.TrimSpace(name)) == "repositoryformatversion" {
			versions++
			if string(bytes.TrimSpace(value)) != "0" {
				return false
			}
		}
	}
	return versions == 1
}
