package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

// textFlag is a flag whose text is parsed later, with the other places where
// a setting may stand.
type textFlag struct{ kind, text string }

func (f *textFlag) String() string     { return f.text }
func (f *textFlag) Set(s string) error { f.text = s; return nil }
func (f *textFlag) Type() string       { return f.kind }

var _ pflag.Value = (*textFlag)(nil)

// The settings that commands other than serve take as flags.
var (
	searchSettings = []string{"data", "memory", "max-timeout"}
	ingestSettings = []string{"data", "memory", "max-text-bytes", "max-indexed-bytes", "min-free-bytes", "symbols", "history-messages", "history-diffs", "log-level", "log-format"}
)

// settingFlags gives a command --config and the named settings as flags, all
// settings if none is named. The returned function resolves them once the
// command runs.
func settingFlags(cmd *cobra.Command, names ...string) func() (config.Settings, error) {
	flags := cmd.Flags()
	path := &textFlag{kind: "FILE"}
	flags.Var(path, "config", "read settings and repositories from this file ($TRAWL_CONFIG)")
	said := map[string]*textFlag{}
	for _, k := range config.All() {
		if len(names) == 0 || slices.Contains(names, k.Name) {
			said[k.Name] = &textFlag{kind: k.Value}
			flags.Var(said[k.Name], k.Name, fmt.Sprintf("%s (default: %s)", k.About, k.Default))
		}
	}
	return func() (config.Settings, error) {
		given := map[string]string{}
		for name, f := range said {
			if flags.Changed(name) {
				given[name] = f.text
			}
		}
		return resolve(path.text, given)
	}
}

// resolve reads the configuration file, if one is named, and puts everything
// together.
func resolve(path string, flags map[string]string) (config.Settings, error) {
	said := config.Said{Env: os.Getenv, Flags: flags}
	if path == "" {
		path = os.Getenv("TRAWL_CONFIG")
	}
	if path != "" {
		file, err := config.ReadFile(path)
		if err != nil {
			return config.Settings{}, err
		}
		said.File = file
	}
	return config.Resolve(config.ThisMachine(), said)
}

const settingsHelp = `A setting is a flag, an environment variable or a key of the file that --config
or $TRAWL_CONFIG names. A flag is stronger than the environment, the
environment than the file, the file than what site admins set on the page
/site-admin/configuration, and that than the default. Settings that are live take
effect while a server runs; site admins can set those.

%s
Sizes are written 512MiB, 2GiB or as a number of bytes; times 90s, 5m or 1h30m.

The file is YAML. Beside settings it can declare repositories, which trawl serve
and trawl index then know; relative paths start at the file's directory. A
repository that no longer stands there stays until "trawl repo remove":

  data: /var/lib/trawl
  memory: 2GiB
  repositories:
    - source: https://git.example.org/lab/kiln
    - source: ../glaze
      name: lab/glaze
      branches: [release/*]
      stars: 41
      topics: [clay, heat]
      metadata: {team: kiln, legacy: }
  rateLimits:
    graphQLMaxAliases: 500
    graphQLMaxFieldCount: 500000
    graphQLMaxDepth: 30
    graphQLMaxDuplicateFieldCount: 500
    graphQLMaxUniqueFieldCount: 500
  backup:
    to: /backups/trawl
    every: 24h
    mirrors: true
    passphrase-file: /etc/trawl/backup-passphrase
    keep: {last: 3, daily: 7, weekly: 4, monthly: 12, yearly: 2}

The default branch is indexed, and the branches that the patterns under branches
match; every other branch, tag or commit is searched too, through git. What is
known about a repository besides its files can stand there: stars, fork,
archived, private, description, topics and metadata, in which a key without a
value is a tag; "trawl repo set --help" says what they are for. Under backup
stands what trawl serve backs up by itself, and what it keeps of that; "trawl
backup --help" explains. Instead of passphrase-file there can be recipients, a
list. Unknown keys are errors.`

// settingsTopic is a page of help and no command.
func settingsTopic() *cobra.Command {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, k := range config.All() {
		about := k.About
		if k.Live() {
			about += " (live)"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n\t\t%s\n", k.Name, k.Env(), k.Default, about)
	}
	_ = w.Flush() // a strings.Builder takes everything
	return &cobra.Command{Use: "settings", Short: "what can be set", Long: fmt.Sprintf(settingsHelp, table.String())}
}
