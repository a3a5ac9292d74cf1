package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

// resolve resolves settings on a machine with 8 GiB of which nothing is said
// but what is given.
func resolve(t *testing.T, file string, env, flags map[string]string) (config.Settings, error) {
	t.Helper()
	said := config.Said{Env: func(name string) string { return env[name] }, Flags: flags}
	if file != "" {
		f, err := config.ParseFile("/etc/trawl/trawl.yaml", []byte(file))
		if err != nil {
			return config.Settings{}, err
		}
		said.File = f
	}
	return config.Resolve(config.Machine{Home: "/home/me", MemoryBytes: 8 << 30}, said)
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		name string
		m    config.Machine
		data string
		mem  config.Bytes
	}{
		{"a home", config.Machine{Home: "/home/me", MemoryBytes: 8 << 30}, "/home/me/.local/share/trawl", 2 << 30},
		{"a place for data", config.Machine{Home: "/home/me", DataHome: "/data", MemoryBytes: 8 << 30}, "/data/trawl", 2 << 30},
		{"a relative place, which does not count", config.Machine{Home: "/home/me", DataHome: "data"}, "/home/me/.local/share/trawl", 1 << 30},
		{"a large machine", config.Machine{Home: "/", MemoryBytes: 64 << 30}, "/.local/share/trawl", 16 << 30},
		{"a tiny machine", config.Machine{Home: "/", MemoryBytes: 1 << 20}, "/.local/share/trawl", 64 << 20},
		{"no home", config.Machine{}, "", 1 << 30},
	} {
		s := config.Defaults(c.m)
		if s.Data != c.data || s.Memory != c.mem {
			t.Errorf("%s: got %q and %v, want %q and %v", c.name, s.Data, s.Memory, c.data, c.mem)
		}
	}
	if s := config.Defaults(config.Machine{}); !strings.HasPrefix(s.Listen, "127.0.0.1:") {
		t.Errorf("Listen: got %q, want an address that only this machine reaches", s.Listen)
	}
}

// What is documented as a default must be what the default is.
func TestDocumentedDefaults(t *testing.T) {
	none, err := resolve(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	none.Said.Env = nil
	for _, k := range config.All() {
		if strings.Contains(k.Default, " ") { // it is told in words
			continue
		}
		said, err := resolve(t, "", nil, map[string]string{k.Name: k.Default})
		if err != nil {
			t.Errorf("%s: the documented default %q is refused: %v", k.Name, k.Default, err)
			continue
		}
		said.Said, said.Origins = none.Said, none.Origins
		if !reflect.DeepEqual(said, none) {
			t.Errorf("%s: documented as %q, but:\n got %+v\nwant %+v", k.Name, k.Default, said, none)
		}
	}
}

func TestPrecedence(t *testing.T) {
	file := "sync-interval: 1m\nlisten: :1\nmax-text-bytes: 1MiB\n"
	env := map[string]string{"TRAWL_SYNC_INTERVAL": "2m", "TRAWL_LISTEN": ":2", "TRAWL_LOG_LEVEL": ""}
	s, err := resolve(t, file, env, map[string]string{"listen": ":3"})
	if err != nil {
		t.Fatal(err)
	}
	if s.MaxTextBytes != 1<<20 {
		t.Errorf("max-text-bytes: got %v, want that of the file", s.MaxTextBytes)
	}
	if s.SyncInterval != 2*time.Minute {
		t.Errorf("sync-interval: got %v, want that of the environment", s.SyncInterval)
	}
	if s.Listen != ":3" {
		t.Errorf("listen: got %q, want that of the flag", s.Listen)
	}
	if s.LogLevel != "info" {
		t.Errorf("log-level: got %q: an empty variable says nothing", s.LogLevel)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		name, value string
		err         string // "" is none
	}{
		// paths and addresses
		{"data", "/x", ""},
		{"data", "", "name a directory"},
		{"listen", ":7080", ""},
		{"listen", "[::1]:0", ""},
		{"listen", "7080", `"7080" is no host and port`},
		{"listen", "localhost:http", "no usable port"},
		{"listen", "localhost:70000", "no usable port"},
		{"external-url", "https://search.example.org/", ""},
		{"external-url", "search.example.org", "no address of a server"},
		{"organizations", "site-admin-create", ""},
		{"organizations", "none", "is not all-users-create or site-admin-create"},
		{"organizations-per-user", "0", "no number from 1"},
		{"rename-self", "maybe", "not true or false"},
		{"external-url", "https://söök.example", "in ASCII"},
		{"external-url", "https://me:secret@x", "no address of a server"},

		// sizes
		{"memory", "512MiB", ""},
		{"memory", "63MiB", "too little"},
		{"memory", "-1", "no size"},
		{"max-text-bytes", "0", "out of range"},
		{"max-text-bytes", "129MiB", "out of range"},
		{"max-indexed-bytes", "0", "would index nothing"},
		{"min-free-bytes", "0", ""},

		// times
		{"sync-interval", "0", ""},
		{"sync-interval", "1s", ""},
		{"sync-interval", "10ms", "too often"},
		{"sync-interval", "-5m", "no length of time"},
		{"max-timeout", "0", "end every search at once"},
		{"max-timeout", "ten", "no length of time"},

		// who may do what
		{"anonymous-access", "yes", ""},
		{"anonymous-access", "maybe", `"maybe" is not auto, yes or no`},
		{"trusted-origins", "https://a.example, chrome-extension://abc *", ""},
		{"trusted-origins", "a.example", "no origin"},
		{"host-links", "git.example.org=gitlab code.example=https://x.example/{repository}/{path}#{line}", ""},
		{"host-links", "git.example.org=javascript:{path}", "may do harm"},
		{"editor-link", "vscode://file/src/{repository}/{path}:{line}", ""},
		{"editor-link", "javascript:alert({path})", "may do harm"},
		{"trusted-proxies", "10.0.0.0/8 192.0.2.1", ""},
		{"trusted-proxies", "proxy", "no address or network"},
		{"access-tokens", "none", ""},
		{"access-tokens", "all", "is not all-users-create"},
		{"access-token-days", "1, 2,never", ""},
		{"access-token-days", "never", "give a number of days"},
		{"access-token-days", "0", "no number of days"},
		{"access-tokens-per-user", "0", "no number from 1"},
		{"session-expiry", "10s", "too short"},
		{"session-idle", "1h", ""},
		{"lockout-after", "0", ""},
		{"lockout-after", "-1", "no number from 0"},
		{"audit-age", "week", "no length of time"},
		{"audit-entries", "0", "no number from 1"},
		{"rate-limit-user", "auto", ""},
		{"rate-limit-user", "60", ""},
		{"rate-limit-address", "-1", "no number from 0"},

		// watching and stopping
		{"debug-listen", "off", ""},
		{"debug-listen", "127.0.0.1:7081", ""},
		{"debug-listen", "localhost:0", ""},
		{"debug-listen", "7081", "is no host and port"},
		{"debug-public", "perhaps", "is not true or false"},
		{"metrics-access", "everyone", ""},
		{"metrics-access", "nobody", "is not admins or everyone"},
		{"slow-query", "0", ""},
		{"slow-query", "slow", "no length of time"},
		{"slow-query-text", "true", ""},
		{"stop-delay", "5s", ""},
		{"stop-delay", "11m", "at most 10m"},

		// words
		{"log-level", "debug", ""},
		{"log-level", "loud", `"loud" is not trace, debug, info, warn or error`},
		{"log-format", "text", `"text" is not auto, console or json`},
	} {
		_, err := resolve(t, "", nil, map[string]string{c.name: c.value})
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.HasPrefix(err.Error(), "--"+c.name+": ")) {
			t.Errorf("--%s %q: got %v, want %q", c.name, c.value, err, c.err)
		}
	}
}

func TestNoPlaceForData(t *testing.T) {
	_, err := config.Resolve(config.Machine{}, config.Said{Env: func(string) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("got %v, want an error that names --data", err)
	}
}

func TestMarkdown(t *testing.T) {
	got := config.Markdown()
	for _, k := range config.All() {
		if strings.Count(got, "| `"+k.Name+"` |") != 1 {
			t.Errorf("%s does not stand in the table once:\n%s", k.Name, got)
		}
	}
}

// Profiles of the memory are for clients on the machine only, unless
// debug-public is set.
func TestDebugListen(t *testing.T) {
	for _, c := range []struct{ listen, public, want string }{
		{"127.0.0.1:7081", "false", ""},
		{"[::1]:7081", "false", ""},
		{"localhost:7081", "false", ""},
		{":7081", "false", "say debug-public: true"},
		{"0.0.0.0:7081", "false", "say debug-public: true"},
		{"10.0.0.7:7081", "false", "say debug-public: true"},
		{"search.example.org:7081", "false", "say debug-public: true"},
		{"10.0.0.7:7081", "true", ""},
	} {
		_, err := resolve(t, "", nil, map[string]string{"debug-listen": c.listen, "debug-public": c.public})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("debug-listen %s, debug-public %s: got %v, want %q", c.listen, c.public, err, c.want)
		}
	}
}
