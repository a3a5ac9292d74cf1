package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/httpapi/oidc"
)

// Settings is everything that can be set, checked.
type Settings struct {
	// Data is the data directory.
	Data string
	// Listen is host:port of the server.
	Listen string
	// Memory is what the process stays within.
	Memory Bytes
	// MaxIndexedBytes is the size of text up to which it is indexed; 0 is
	// MaxTextBytes.
	MaxIndexedBytes Bytes
	// MaxTextBytes is the size of a file up to which its text is taken in.
	MaxTextBytes Bytes
	// MinFreeBytes is how much disk must stay free while indexing; 0 is no limit.
	MinFreeBytes Bytes
	// SyncInterval is the least time between two looks at a source; 0 is off.
	SyncInterval time.Duration
	// MaxTimeout is the longest that one search may take.
	MaxTimeout time.Duration
	// ExternalURL is how clients reach the server; "" takes it from requests.
	ExternalURL string
	// LogLevel is trace, debug, info, warn or error.
	LogLevel string
	// LogFormat is auto, console or json.
	LogFormat string
	// File is the path of the configuration file, "" if there is none.
	File string
	// Symbols says that definitions are read with universal-ctags, if it is
	// there.
	Symbols bool
	// HistoryMessages is of how many of its newest commits a repository keeps
	// message and changed paths, HistoryDiffs of how many the diffs; 0 is none.
	HistoryMessages, HistoryDiffs int
	// Operation are the settings of logs, metrics and profiles.
	Operation
	// Identity are the settings of users and their access.
	Identity
	// Cluster are the settings of a node among others.
	Cluster
	// Hosting are the settings of code hosts.
	Hosting
	// Repositories are those that the configuration file declares.
	Repositories []Repository
	// AllowLocalSources lets external services name addresses of this machine,
	// its link and of metadata services.
	AllowLocalSources bool
	// Said is what these settings were made of, Origins where each of them stands, by
	// its name.
	Said    Said
	Origins map[string]Origin
	// RateLimits are the limits of GraphQL requests; 0 is the default.
	RateLimits cost.Limits
	// UserHeader is the header in which TrustedProxies name whom they have signed in, "" for
	// none.
	UserHeader string
	// Providers are the services that people sign in at.
	Providers []oidc.Provider
	// Backup is what trawl serve backs up by itself; nil is nothing.
	Backup *Backup
	// Mail is the mail server that messages are given to, nil for none. It is made of smtp.
	Mail *notify.Mail
	// WebhookHosts are hosts in private networks that webhooks of users may lead to, in
	// lower case.
	WebhookHosts []string
	smtp         smtp
}

// Machine has the facts that the defaults depend on.
type Machine struct {
	// Home is the user's home directory, "" if unknown.
	Home string
	// DataHome is $XDG_DATA_HOME.
	DataHome string
	// MemoryBytes is the memory this process may have at most; 0 if unknown.
	MemoryBytes int64
}

// unknownMemory stands in for the memory of a machine that does not report it.
const unknownMemory = 4 << 30

// Defaults returns the settings of a machine on which nothing was said. Data is
// empty if there is no place for it.
func Defaults(m Machine) Settings {
	s := Settings{
		Listen:       "127.0.0.1:7080",
		Memory:       unknownMemory / 4,
		MaxTextBytes: 32 << 20,
		MinFreeBytes: 512 << 20,
		SyncInterval: 45 * time.Second,
		MaxTimeout:   time.Minute,
		Symbols:      true,

		HistoryMessages: AllCommits,
		HistoryDiffs:    10_000,

		LogLevel:  "info",
		LogFormat: "auto",

		Operation: Operation{SlowQuery: 5 * time.Second},
		Identity:  defaultIdentity(),
		Hosting:   Hosting{VanishedAfter: usualVanishedAfter},
		smtp:      smtp{tls: notify.StartTLS},
	}
	if m.MemoryBytes > 0 {
		s.Memory = Bytes(max(m.MemoryBytes/4, leastMemory))
	}
	switch {
	// The standard has relative paths there ignored.
	case filepath.IsAbs(m.DataHome):
		s.Data = filepath.Join(m.DataHome, "trawl")
	case m.Home != "":
		s.Data = filepath.Join(m.Home, ".local", "share", "trawl")
	}
	return s
}

// Said is what a person said, from the weakest to the strongest. File may be
// nil; Flags holds only the flags that were given.
type Said struct {
	// Site is what site admins have set on the server.
	Site  Site
	File  *File
	Env   func(name string) string
	Flags map[string]string
}

// Place is where the value of a setting stands.
type Place int

// The places, from the weakest.
const (
	PlaceDefault Place = iota
	PlaceSite
	PlaceFile
	PlaceEnv
	PlaceFlag
)

// Origin is the value of a setting as it was written.
type Origin struct {
	Place Place
	// Text is the value, Setting.Default if nothing was said.
	Text string
	// Where names the place for people: "/etc/trawl.yaml:3", "TRAWL_LISTEN" or
	// "--listen"; it is "" for PlaceDefault and PlaceSite.
	Where string
}

// origins returns what was said of k, from the weakest.
func (said Said) origins(k Setting) (out []Origin) {
	if text, ok := said.Site.Values[k.Name]; ok {
		out = append(out, Origin{Place: PlaceSite, Text: text})
	}
	if said.File != nil {
		if v, ok := said.File.values[k.Name]; ok {
			out = append(out, Origin{PlaceFile, v.text, fmt.Sprintf("%s:%d", said.File.Path, v.line)})
		}
	}
	if v := said.Env(k.Env()); v != "" {
		out = append(out, Origin{PlaceEnv, v, k.Env()})
	}
	if v, ok := said.Flags[k.Name]; ok {
		out = append(out, Origin{PlaceFlag, v, "--" + k.Name})
	}
	return out
}

// complain words the error of a value.
func (o Origin) complain(name string, err error) error {
	switch o.Place {
	case PlaceFile:
		return fmt.Errorf("%s: %s: %w", o.Where, name, err)
	case PlaceEnv:
		return fmt.Errorf("environment variable %s: %w", o.Where, err)
	case PlaceFlag:
		return fmt.Errorf("%s: %w", o.Where, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Resolve makes settings of the defaults and what was said.
func Resolve(m Machine, said Said) (Settings, error) {
	s := Defaults(m)
	s.Said, s.Origins = said, map[string]Origin{}
	s.RateLimits = said.Site.RateLimits
	if said.File != nil {
		s.File, s.Repositories, s.Backup = said.File.Path, said.File.Repositories, said.File.Backup
		s.RateLimits = said.File.RateLimits.Or(said.Site.RateLimits)
		s.CodeHosts = said.File.CodeHosts
		s.Providers = said.File.Providers
	}
	for _, k := range All() {
		s.Origins[k.Name] = Origin{Text: k.Default}
		for _, o := range said.origins(k) {
			if err := k.set(&s, o.Text); err != nil {
				return s, o.complain(k.Name, err)
			}
			s.Origins[k.Name] = o
		}
	}
	if s.Data == "" {
		return s, errors.New("there is no home directory to keep data in: say where with --data or TRAWL_DATA")
	}
	if err := s.Operation.check(); err != nil {
		return s, err
	}
	if err := s.Cluster.check(); err != nil {
		return s, err
	}
	if err := s.checkSignIn(); err != nil {
		return s, err
	}
	var err error
	if s.Mail, err = s.smtp.mail(); err != nil {
		return s, err
	}
	abs, err := filepath.Abs(s.Data)
	if err != nil {
		return s, fmt.Errorf("data directory: %w", err)
	}
	s.Data = abs
	return s, nil
}
