package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Setting is one thing that can be set, by the same name as a flag and as a
// key of the file.
type Setting struct {
	Name string
	// Value stands for the value in help texts.
	Value string
	// Default is the value without the setting, in words or as it is written.
	Default string
	// About says in a few words what the setting does.
	About string

	set func(s *Settings, text string) error
}

// liveNames are the settings that take effect while a server runs. Their defaults are
// values. What reaches further than the server itself, such as allow-local-sources, or
// keeps what admins did, such as audit-age, is for who can start it.
var liveNames = []string{
	"max-timeout", "log-level", "vanished-after", "slow-query", "slow-query-text", "stop-delay", "anonymous-access",
	"access-tokens", "access-token-days", "access-tokens-per-user", "organizations", "organizations-per-user", "rename-self",
	"session-expiry", "session-idle", "lockout-after", "rate-limit-user", "rate-limit-address", "mcp", "client-registration",
}

// Live reports whether another value takes effect while a server runs.
func (k Setting) Live() bool { return slices.Contains(liveNames, k.Name) }

// Env returns the name of the environment variable, such as TRAWL_DATA.
func (k Setting) Env() string {
	return "TRAWL_" + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// All returns every setting, in the order in which people read them.
func All() []Setting {
	return slices.Concat([]Setting{
		{"data", "DIR", "$XDG_DATA_HOME/trawl or ~/.local/share/trawl",
			"where the index, the texts and the mirrors are kept", setData},
		{"listen", "ADDR", "127.0.0.1:7080",
			"host and port to serve on; port 0 takes a free one", setListen},
		{"memory", "SIZE", "a quarter of the machine's memory",
			"what the process stays within; more of it answers faster, as most of it caches the index", setMemory},
		{"max-text-bytes", "SIZE", "32MiB",
			"a larger file is found by its path only", setMaxText},
		{"max-indexed-bytes", "SIZE", "the value of max-text-bytes",
			"larger text is read by every search instead of being indexed", setMaxIndexed},
		{"min-free-bytes", "SIZE", "512MiB",
			"indexing stops when less disk than this is free; 0 never stops it", setMinFree},
		{"symbols", "BOOL", "true",
			"read definitions with universal-ctags, for type:symbol", setSymbols},
		{"history-messages", "N", "all",
			"newest commits of a repository whose messages and paths are kept, for type:commit; 0 keeps none", setHistoryMessages},
		{"history-diffs", "N", "10000",
			"newest commits whose diffs are kept, for type:diff; older ones are read through git", setHistoryDiffs},
		{"sync-interval", "TIME", "45s",
			"least time between two looks at a source; one that changes rarely waits longer, a local one up to 5m, a remote up to 8h; 0 looks at the start only", setSyncInterval},
		{"allow-local-sources", "BOOL", "false",
			"let external services and site admins name addresses of this machine, its link and of metadata services", setAllowLocal},
		{"max-timeout", "TIME", "1m",
			"the longest a search may take, whatever it asks for", setMaxTimeout},
		{"external-url", "URL", "taken from each request",
			"how clients reach the server: for links in answers, and the only Host that is answered, with those of trusted-origins", setExternalURL},
		{"log-level", "LEVEL", "info",
			"trace, debug, info, warn or error", setLogLevel},
		{"log-format", "FORMAT", "auto",
			"console, json, or auto: console on a terminal and json elsewhere", setLogFormat},
	}, hostingSettings(), operationSettings(), identitySettings(), mailSettings(), clusterSettings())
}

// Find returns the setting of that name.
func Find(name string) (k Setting, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(k Setting) bool { return k.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

func setData(s *Settings, text string) error {
	if text == "" {
		return errors.New("name a directory")
	}
	s.Data = text
	return nil
}

func setListen(s *Settings, text string) error {
	if err := checkAddress(text); err != nil {
		return err
	}
	s.Listen = text
	return nil
}

// checkAddress refuses what is not host:port.
func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%q is no host and port: write 127.0.0.1:7080, or :7080 for every interface", text)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no usable port: it is a number from 0 to 65535", text)
	}
	return nil
}

// leastMemory is what the program, the engine's buffers and one query need.
const leastMemory = 64 << 20

func setMemory(s *Settings, text string) error {
	b, err := ParseBytes(text)
	if err != nil {
		return err
	}
	if b < leastMemory {
		return fmt.Errorf("%s is too little: give at least %s", b, Bytes(leastMemory))
	}
	s.Memory = b
	return nil
}

// mostTextBytes is what one document can hold in the index.
const mostTextBytes = 128 << 20

func setMaxText(s *Settings, text string) error {
	b, err := ParseBytes(text)
	if err != nil {
		return err
	}
	if b < 1 || b > mostTextBytes {
		return fmt.Errorf("%s is out of range: give 1 to %s", b, Bytes(mostTextBytes))
	}
	s.MaxTextBytes = b
	return nil
}

func setMaxIndexed(s *Settings, text string) error {
	b, err := ParseBytes(text)
	if err != nil {
		return err
	}
	if b < 1 {
		return errors.New("0 would index nothing: give at least 1")
	}
	s.MaxIndexedBytes = b
	return nil
}

func setMinFree(s *Settings, text string) (err error) {
	s.MinFreeBytes, err = ParseBytes(text)
	return err
}

func setAllowLocal(s *Settings, text string) error { return setBool(&s.AllowLocalSources, text) }

func setSymbols(s *Settings, text string) error { return setBool(&s.Symbols, text) }

// AllCommits stands for every commit in a setting.
const AllCommits = math.MaxInt

func setHistoryMessages(s *Settings, text string) (err error) {
	s.HistoryMessages, err = parseCommits(text)
	return err
}

func setHistoryDiffs(s *Settings, text string) (err error) {
	s.HistoryDiffs, err = parseCommits(text)
	return err
}

// parseCommits reads a number of commits or "all".
func parseCommits(text string) (int, error) {
	if text == "all" {
		return AllCommits, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number of commits: write 10000, all, or 0 for none", text)
	}
	return n, nil
}

func setSyncInterval(s *Settings, text string) error {
	d, err := parseTime(text)
	if err != nil {
		return err
	}
	if d > 0 && d < time.Second {
		return fmt.Errorf("%s is too often: give at least 1s, or 0 for never", text)
	}
	s.SyncInterval = d
	return nil
}

func setMaxTimeout(s *Settings, text string) error {
	d, err := parseTime(text)
	if err != nil {
		return err
	}
	if d == 0 {
		return errors.New("0 would end every search at once: give at least 1ms")
	}
	s.MaxTimeout = d
	return nil
}

// parseTime reads a duration that is not negative.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no length of time: write 90s, 5m or 1h30m", text)
	}
	return d, nil
}

func setExternalURL(s *Settings, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("that is no address of a server: write https://search.example.org")
	}
	if strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r >= utf8.RuneSelf }) {
		return errors.New("write the host as browsers send it, in ASCII: xn--… for a name with other letters")
	}
	s.ExternalURL = strings.TrimSuffix(text, "/")
	return nil
}

func setLogLevel(s *Settings, text string) error {
	return oneOf(&s.LogLevel, text, "trace", "debug", "info", "warn", "error")
}

func setLogFormat(s *Settings, text string) error {
	return oneOf(&s.LogFormat, text, "auto", "console", "json")
}

func oneOf(dst *string, text string, words ...string) error {
	if !slices.Contains(words, text) {
		last := len(words) - 1
		return fmt.Errorf("%q is not %s or %s", text, strings.Join(words[:last], ", "), words[last])
	}
	*dst = text
	return nil
}
