package backups

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/object/s3"
	"github.com/trawlsearch/trawl/store/redact"
)

const fileScheme = "file://"

// OpenDestination returns the destination that people write as an absolute path, as
// file:///path (RFC 8089) or as s3://bucket/prefix. The credentials of a bucket are in
// the environment.
func OpenDestination(text string) (object.Store, error) {
	if strings.HasPrefix(text, fileScheme) {
		u, err := url.Parse(text)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("%q is no folder of this machine: write file:///path", redact.URL(text))
		}
		text = u.Path
	}
	switch {
	case strings.HasPrefix(text, s3.Scheme):
		return s3.Open(text, os.Getenv)
	case strings.Contains(text, "://"):
		return nil, fmt.Errorf("%q is no destination: write a path, or s3://bucket/prefix", redact.URL(text))
	case !filepath.IsAbs(text):
		return nil, fmt.Errorf("%q is no absolute path", text)
	}
	return object.NewFolder(disk.OS(), filepath.Clean(text)), nil
}

// maxPassphraseBytes bounds a passphrase.
const maxPassphraseBytes = 4 << 10

// ReadPassphrase returns the first line of a file.
func ReadPassphrase(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("passphrase file: %w", err)
	}
	if info.Size() > maxPassphraseBytes {
		return "", fmt.Errorf("passphrase file %s has %d bytes, and %d can be", path, info.Size(), maxPassphraseBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("passphrase file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("passphrase file %s is empty: put a passphrase into its first line", path)
	}
	return line, nil
}
