package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/internal/needs"
)

const deploy = "../../docs/deploy/"

func readDeploy(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(deploy + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// unit is a unit file: the values of each key, by section.
func unit(t *testing.T, text string) map[string][]string {
	t.Helper()
	out, section := map[string][]string{}, ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case !ok:
			t.Errorf("trawl.service:%d: %q is neither a section nor a setting", i+1, line)
		default:
			out[section+"."+key] = append(out[section+"."+key], value)
		}
	}
	return out
}

func TestUnit(t *testing.T) {
	u := unit(t, readDeploy(t, "trawl.service"))
	// what the program is started with, it knows
	words := strings.Fields(strings.Join(u["Service.ExecStart"], " "))
	if len(words) < 2 || !strings.HasSuffix(words[0], "/trawl") {
		t.Fatalf("ExecStart: got %q", words)
	}
	knownCommand(t, "trawl.service", words[1:])
	// what systemd must be told for what the program does
	for key, want := range map[string]string{
		"Service.Type": "notify", "Service.NotifyAccess": "main", "Service.ExecReload": "/bin/kill -HUP $MAINPID",
		"Service.NoNewPrivileges": "yes", "Service.ProtectSystem": "strict", "Service.CapabilityBoundingSet": "",
		"Service.StateDirectory": "trawl", "Service.StateDirectoryMode": "0700", "Service.UMask": "0077",
		"Service.User": "trawl", "Service.MemoryDenyWriteExecute": "yes", "Service.RestrictNamespaces": "yes",
		"Install.WantedBy": "multi-user.target",
	} {
		if got := u[key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if len(u["Service.WatchdogSec"]) != 1 || len(u["Service.TimeoutStopSec"]) != 1 {
		t.Error("WatchdogSec and TimeoutStopSec have to be set")
	}
	t.Run("systemd-analyze", func(t *testing.T) { judgeUnit(t, words[0]) })
}

// judgeUnit asks systemd about trawl.service, in which program is started.
func judgeUnit(t *testing.T, program string) {
	path := needs.Program(t, "systemd-analyze")
	out, err := exec.Command(path, "security", "--offline=yes", "--no-pager", "--threshold=20", deploy+"trawl.service").CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: more than 2.0: %v\n%s", err, out)
	}
	// the program and its manual page need not be installed to verify the rest
	copied := filepath.Join(t.TempDir(), "trawl.service")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(readDeploy(t, "trawl.service"), program+" ", self+" ", 1)
	writeText(t, copied, strings.Replace(text, "Documentation=man:", "#", 1))
	if out, err := exec.Command(path, "verify", copied).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// knownCommand checks that there is such a command with such flags.
func knownCommand(t *testing.T, where string, args []string) {
	t.Helper()
	root := (&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}).rootCommand()
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root {
		t.Errorf("%s: there is no command %q: %v", where, args, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: %s: %v", where, strings.Join(args, " "), err)
	}
}

// statements are those of a container file, continued lines joined.
func statements(text string) (out [][2]string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			word, rest, _ := strings.Cut(line, " ")
			out = append(out, [2]string{word, strings.TrimSpace(rest)})
		}
	}
	return out
}

func TestContainerfile(t *testing.T) {
	pinned := regexp.MustCompile(`^\S+:\d+\.\d+(\.\d+)?(@sha256:[0-9a-f]{64})?( AS \w+)?$`)
	last := map[string]string{} // the statements of the image itself
	stages := 0
	all := statements(readDeploy(t, "Containerfile"))
	for _, s := range all {
		if s[0] == "FROM" {
			stages++
			last = map[string]string{}
			if !pinned.MatchString(s[1]) {
				t.Errorf("FROM %s: name a version", s[1])
			}
		}
		last[s[0]] = s[1]
	}
	if stages != 2 {
		t.Errorf("got %d stages, want 2: what builds must not be in what runs", stages)
	}
	if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(last["USER"]) {
		t.Errorf("USER %s: want numbers other than 0, which can be checked without the image", last["USER"])
	}
	if !slices.ContainsFunc(all, func(s [2]string) bool { return s[0] == "RUN" && strings.Contains(s[1], "CGO_ENABLED=0 go build") }) {
		t.Error("the program is not built static")
	}
	// the compiler is new enough
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))[1]
	if !strings.Contains(all[0][1], "golang:"+needs) {
		t.Errorf("%s: go.mod asks for Go %s", all[0], needs)
	}
	// what it runs, the program knows
	knownCommand(t, "Containerfile", strings.FieldsFunc(last["CMD"], func(r rune) bool { return strings.ContainsRune(`[]", `, r) }))
	for _, v := range regexp.MustCompile(`TRAWL_[A-Z_]+`).FindAllString(last["ENV"], -1) {
		if !slices.ContainsFunc(config.All(), func(k config.Setting) bool { return k.Env() == v }) {
			t.Errorf("ENV: there is no setting %s", v)
		}
	}
	for _, want := range []string{"ENTRYPOINT", "HEALTHCHECK", "STOPSIGNAL", "VOLUME"} {
		if last[want] == "" {
			t.Errorf("no %s", want)
		}
	}
}

// Without cgo nothing that is built wants a library of the system.
func TestStatic(t *testing.T) {
	cmd := exec.Command("go", "list", "-race=false", "-deps", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("packages that need C without cgo: %s %v", out, err)
	}
}

// The snippets for proxies have what streams need.
func TestProxies(t *testing.T) {
	for name, wants := range map[string][]string{
		"nginx.conf": {
			`proxy_buffering off;`, `proxy_http_version 1\.1;`, `proxy_set_header Connection "";`, `proxy_read_timeout 2m;`, `gzip off;`,
			`proxy_set_header X-Forwarded-For \$remote_addr;`, `proxy_set_header Host \$host;`, `large_client_header_buffers 4 256k;`,
		},
		"Caddyfile":          {`read_timeout 2m`, `max_size 16MB`},
		"cluster-nginx.conf": {`proxy_buffering off;`, `proxy_next_upstream error timeout http_503;`, `proxy_read_timeout 2m;`, `gzip off;`},
		"cluster-Caddyfile":  {`health_uri /readyz`, `read_timeout 2m`, `max_size 16MB`},
	} {
		text := regexp.MustCompile(`(?m)#.*$`).ReplaceAllString(readDeploy(t, name), "")
		for _, want := range wants {
			if !regexp.MustCompile(`(?m)^\s*` + want + `\s*$`).MatchString(text) {
				t.Errorf("%s: no line %s", name, want)
			}
		}
		if open, closed := strings.Count(text, "{"), strings.Count(text, "}"); open != closed {
			t.Errorf("%s: %d braces open, %d close", name, open, closed)
		}
	}
}

// The alerts are such as Prometheus takes, and each fires when it should.
func TestAlerts(t *testing.T) {
	promtool := needs.Program(t, "promtool")
	for _, args := range [][]string{
		{"check", "rules", deploy + "alerts.yml"},
		{"test", "rules", "testdata/alerts.yml"},
	} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	tests, err := os.ReadFile("testdata/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(readDeploy(t, "alerts.yml"), -1) {
		well, ill := "- {alertname: "+rule[1]+",", "- alertname: "+rule[1]+"\n"
		if text := string(tests); !strings.Contains(text, well) || !strings.Contains(text, ill) {
			t.Errorf("testdata/alerts.yml does not test %s when all is well, and when not", rule[1])
		}
	}
}

// TestPages: the configuration files and the commands that README.md and the
// pages in docs show are ones that the program takes.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var files, commands int
	for _, name := range append(pages, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files += parseFiles(t, name, string(text))
		commands += findCommands(t, name, string(text))
	}
	if files < 3 || commands < 20 {
		t.Errorf("the pages show %d configuration files and %d commands, want at least 3 and 20", files, commands)
	}
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// parseFiles parses each configuration file of a page, and returns how many
// there are.
func parseFiles(t *testing.T, name, page string) int {
	t.Helper()
	n := 0
	for _, block := range yamlBlock.FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(block[1], "scrape_configs:") { // a file of Prometheus
			continue
		}
		n++
		if _, err := config.ParseFile(name, []byte(block[1])); err != nil {
			t.Errorf("%s shows a configuration file that is refused: %v", name, err)
		}
	}
	return n
}

var commandLine = regexp.MustCompile("(?m)^ {4,7}(?:sudo -u trawl (?:env \\S+ )?)?trawl ([^#&|>\n]+)")

// findCommands looks up each command line of a page with its flags, and returns
// how many there are.
func findCommands(t *testing.T, name, page string) int {
	t.Helper()
	lines := commandLine.FindAllStringSubmatch(page, -1)
	for _, line := range lines {
		root := (&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}).rootCommand()
		root.InitDefaultCompletionCmd("bash")
		cmd, rest, err := root.Find(strings.Fields(line[1]))
		if err == nil && cmd != root {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || cmd == root {
			t.Errorf("%s shows %q: %v", name, "trawl "+line[1], err)
		}
	}
	return len(lines)
}

// The containers of several nodes are given settings that there are.
func TestClusterCompose(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image       string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(readDeploy(t, "cluster-compose.yml")), &file); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for name, s := range file.Services {
		if s.Image != "trawl" {
			continue
		}
		nodes++
		said := config.Said{Env: func(name string) string { return s.Environment[name] }}
		set, err := config.Resolve(config.Machine{Home: "/home/ann"}, said)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if set.Authority == "" || set.Objects == "" || set.AuthorityPasswordFile == "" {
			t.Errorf("%s: settings %+v share nothing", name, set.Cluster)
		}
		for key := range s.Environment {
			if !slices.ContainsFunc(config.All(), func(k config.Setting) bool { return k.Env() == key }) {
				t.Errorf("%s: %s is no setting", name, key)
			}
		}
	}
	if nodes != 3 {
		t.Errorf("there are %d nodes, want 3", nodes)
	}
}
