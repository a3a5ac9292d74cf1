package config

import (
	"time"

	"github.com/trawlsearch/trawl/httpapi/hostlink"
)

// Hosting are the settings of code hosts.
type Hosting struct {
	// CodeHosts are those that the configuration file declares.
	CodeHosts []CodeHost
	// SecretsKeyFile holds the key that seals secrets of records, "" for one in the data
	// directory.
	SecretsKeyFile string
	// VanishedAfter is for how long a repository is kept that its host does not list any
	// more.
	VanishedAfter time.Duration
	// HostLinks and EditorLink are patterns of package hostlink, "" for none.
	HostLinks, EditorLink string
}

// Links are the patterns that pages of files link by.
func (h Hosting) Links() (hostlink.Links, error) { return hostlink.Parse(h.HostLinks, h.EditorLink) }

// usualVanishedAfter gives time to notice that a token sees less than before.
const usualVanishedAfter = 7 * 24 * time.Hour

func hostingSettings() []Setting {
	return []Setting{
		{"vanished-after", "TIME", "168h",
			"for how long a repository is kept, hidden, that its code host does not list any more", setVanishedAfter},
		{"secrets-key-file", "FILE", "secrets.key in the data directory",
			"file of 64 hexadecimal digits that seal the secrets of external services; nodes that share a store need one in common", setSecretsKeyFile},
		{"host-links", "LIST", "none",
			"how pages of files link to their code host, beside those that are known: HOST=github, gitlab, gitea or bitbucket, or HOST=URL with {repository}, {commit}, {path} and {line}", setHostLinks},
		{"editor-link", "URL", "none",
			"how pages of files open an editor, such as vscode://file/home/me/src/{repository}/{path}:{line}", setEditorLink},
	}
}

func setVanishedAfter(s *Settings, text string) (err error) {
	s.VanishedAfter, err = parseTime(text)
	return err
}

func setSecretsKeyFile(s *Settings, text string) error {
	s.SecretsKeyFile = text
	return nil
}

func setHostLinks(s *Settings, text string) error {
	s.HostLinks = unlessNone(text)
	_, err := s.Links()
	return err
}

func setEditorLink(s *Settings, text string) error {
	s.EditorLink = unlessNone(text)
	_, err := s.Links()
	return err
}
