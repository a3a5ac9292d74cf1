package ctags_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/ctags"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program returns the ctags of this machine.
func program(t testing.TB) (*ctags.Program, string) {
	t.Helper()
	path, err := ctags.Find()
	if err != nil {
		needs.Skip(t, "ctags", err)
	}
	p, err := ctags.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return p, path
}

// corpus has a file of each language that is compared with ctags's own output.
var corpus = map[string]string{
	"kiln.c":  "#define HOT 1\nstruct kiln {\n\tint glaze;\n};\nenum state { COLD, WARM };\nstatic int fire(struct kiln *k)\n{\n\treturn k->glaze;\n}\n",
	"kiln.go": "package kiln\n\ntype Kiln struct{ Glaze int }\n\nconst Hot = 1\n\nfunc (k *Kiln) Fire() string { return \"x\" }\n",
	"kiln.py": "class Kiln:\n    def fire(self):\n        pass\n\ndef glaze():\n    return 1\n",
	"kiln.js": "function fire() {}\nclass Kiln { glaze() {} }\n",
}

// batch is what ctags says about a file when it is run on it.
func batch(t *testing.T, path, name, text string) []ctags.Symbol {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "--options=NONE", "--quiet=yes", "--sort=no", "--output-format=json", "--fields=*", "--extras=-{anonymous}p", "-f", "-", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []ctags.Symbol
	for line := range strings.Lines(string(out)) {
		var s struct {
			Name, Kind, Scope, ScopeKind, Language string
			Line                                   int
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, ctags.Symbol{Name: s.Name, Kind: s.Kind, Scope: s.Scope, ScopeKind: s.ScopeKind, Language: s.Language, Line: s.Line})
	}
	return all
}

func sorted(s []ctags.Symbol) []string {
	var out []string
	for _, x := range s {
		out = append(out, fmt.Sprintf("%d %s %s in %s %s, %s", x.Line, x.Kind, x.Name, x.ScopeKind, x.Scope, x.Language))
	}
	slices.Sort(out)
	return out
}

// The answers of one process, file after file, are those of ctags run on each.
func TestParseAgainstBatch(t *testing.T) {
	p, path := program(t)
	parser := p.Start(ctags.Options{})
	defer parser.Close()
	for name, text := range corpus {
		got, err := parser.Parse(t.Context(), "deep/dir/"+name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := batch(t, path, name, text)
		if len(want) < 2 || !slices.Equal(sorted(got), sorted(want)) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, sorted(got), sorted(want))
		}
	}
}

func TestParseHostileNames(t *testing.T) {
	p, _ := program(t)
	parser := p.Start(ctags.Options{})
	defer parser.Close()
	for _, name := range []string{
		"-x.go", "--options=evil.go", "a\nb.go", "a\x00b.go", "\xff\xfe.go", `"},{.go`, strings.Repeat("x", 5000) + ".go", "dir/../../.go.go",
	} {
		got, err := parser.Parse(t.Context(), name, []byte("package x\nfunc Fire() {}\n"))
		if err != nil || len(got) != 2 || got[1].Name != "Fire" {
			t.Errorf("path %.40q: got %v, %v; want x and Fire", name, got, err)
		}
	}
}

func TestParseHostileTexts(t *testing.T) {
	p, _ := program(t)
	parser := p.Start(ctags.Options{})
	defer parser.Close()
	good := []byte("int fire(void) { return 1; }\n")
	for _, text := range []string{
		"", "\n", "int", `{"command":"generate-tags","filename":"/etc/passwd"}` + "\n",
		strings.Repeat("{", 100000), strings.Repeat("(", 100000), "#define \xff\xfe 1\n", "\x00\x00int x;",
		"int " + strings.Repeat("n", 200000) + ";\n", strings.Repeat("#if 1\n", 20000),
	} {
		if _, err := parser.Parse(t.Context(), "a.c", []byte(text)); err != nil && !errors.Is(err, ctags.ErrCrashed) {
			t.Errorf("text %.40q: %v", text, err)
		}
		// What came before has no part in what comes after.
		got, err := parser.Parse(t.Context(), "b.c", good)
		if err != nil || len(got) != 1 || got[0].Name != "fire" || got[0].Line != 1 {
			t.Errorf("after text %.40q: got %v, %v; want fire", text, got, err)
		}
	}
}

func TestUnknownLanguage(t *testing.T) {
	p, _ := program(t)
	parser := p.Start(ctags.Options{})
	defer parser.Close()
	for name, want := range map[string]error{
		"notes.nosuch": ctags.ErrUnknownLanguage, "README": ctags.ErrUnknownLanguage,
		"Makefile": nil, "x.py": nil, "x.h": nil, "x.c.in": nil,
	} {
		if _, err := parser.Parse(t.Context(), name, []byte("x\n")); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	got, err := parser.Parse(t.Context(), "run", []byte("#!/bin/sh\nfire() { :; }\n"))
	if err != nil || len(got) != 1 || got[0].Name != "fire" {
		t.Errorf("a script without an extension: got %v, %v; want fire", got, err)
	}
}

// fake is a ctags that says what it is, and then runs script.
func fake(t *testing.T, script string) *ctags.Program {
	t.Helper()
	for _, p := range []string{"cat", "yes", "head", "sleep"} {
		if strings.Contains(script, p+" ") {
			needs.Program(t, p)
		}
	}
	path := filepath.Join(t.TempDir(), "ctags")
	text := `#!/bin/sh
case "$*" in
*list-features*) printf 'json\ninteractive\n'; exit;;
*list-maps*) echo 'C *.c'; exit;;
esac
echo '{"_type": "program"}'
` + script
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := ctags.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBudgetKillsAndStartsAgain(t *testing.T) {
	stuck := filepath.Join(t.TempDir(), "stuck")
	p := fake(t, `if [ ! -e `+stuck+` ]; then : >`+stuck+`; exec sleep 1000; fi
read line; echo '{"_type": "tag", "name": "fire", "line": 1}'; echo '{"_type": "completed"}'; cat >/dev/null`)
	var parser *ctags.Parser
	var got []ctags.Symbol
	var err error
	for budget := 2 * time.Second; ; budget *= 10 { // a machine that stands still may take more
		if err := os.RemoveAll(stuck); err != nil {
			t.Fatal(err)
		}
		parser = p.Start(ctags.Options{Budget: budget})
		defer parser.Close()
		if _, err := parser.Parse(t.Context(), "a.c", []byte("x")); !errors.Is(err, ctags.ErrTooSlow) {
			t.Errorf("got %v, want ErrTooSlow", err)
		}
		if got, err = parser.Parse(t.Context(), "a.c", []byte("x")); !errors.Is(err, ctags.ErrTooSlow) || budget > 2*time.Second {
			break
		}
	}
	if err != nil || len(got) != 1 {
		t.Errorf("the next text: got %v, %v; want fire", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parser.Parse(ctx, "a.c", []byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestCrash(t *testing.T) {
	for _, script := range []string{
		"exit 1", "read line; exit 3", "echo nonsense; cat >/dev/null", `echo '{"_type":"error","message":"invalid json","fatal":true}'; cat >/dev/null`,
	} {
		parser := fake(t, script).Start(ctags.Options{})
		if got, err := parser.Parse(t.Context(), "a.c", []byte("x")); !errors.Is(err, ctags.ErrCrashed) {
			t.Errorf("%s: got %v, %v; want ErrCrashed", script, got, err)
		}
		if err := parser.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	parser := fake(t, `read line; limit=$(ulimit -v)
echo '{"_type": "tag", "name": "'$limit'", "line": 1}'; echo '{"_type": "completed"}'; read line`).Start(ctags.Options{MemoryBytes: 512 << 20})
	defer parser.Close()
	got, err := parser.Parse(t.Context(), "a.c", []byte("x"))
	if err != nil || len(got) != 1 || got[0].Name != "524288" {
		t.Errorf("got %v, %v; want a limit of 524288 KiB", got, err)
	}
}

func TestFindWithoutCtags(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if path, err := ctags.Find(); !errors.Is(err, ctags.ErrNotFound) {
		t.Errorf("an empty PATH: got %q, %v; want ErrNotFound", path, err)
	}
	// The ctags of another family does not know the option.
	if err := os.WriteFile(filepath.Join(dir, "ctags"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if path, err := ctags.Find(); !errors.Is(err, ctags.ErrNotFound) || !strings.Contains(err.Error(), "another ctags") {
		t.Errorf("another ctags: got %q, %v; want ErrNotFound that says so", path, err)
	}
}

// TestMoreThanIsTaken: names and lines of megabytes are passed over, and a text
// with more symbols than are taken has none; the next text is parsed as ever.
func TestMoreThanIsTaken(t *testing.T) {
	first := filepath.Join(t.TempDir(), "first")
	p := fake(t, `read line
if [ ! -e `+first+` ]; then
	: >`+first+`
	yes '{"_type": "tag", "name": "fire", "line": 1}' | head -n `+strconv.Itoa(ctags.MaxSymbols+1)+`
	echo '{"_type": "completed"}'
	exec cat >/dev/null
fi
tag() { printf '{"_type": "tag", "name": "'; head -c $1 /dev/zero | tr '\0' x; echo '", "line": 1}'; }
tag 8000000; tag 60000; tag `+strconv.Itoa(ctags.MaxNameBytes+1)+`; tag `+strconv.Itoa(ctags.MaxNameBytes)+`
echo '{"_type": "tag", "name": "", "line": 1}'
echo '{"_type": "tag", "name": "nowhere", "line": -1}'
echo '{"_type": "completed"}'
cat >/dev/null`)
	parser := p.Start(ctags.Options{Budget: 10 * time.Minute})
	defer parser.Close()
	if got, err := parser.Parse(t.Context(), "a.c", []byte("x")); !errors.Is(err, ctags.ErrTooMany) || got != nil {
		t.Errorf("got %d symbols, %v; want ErrTooMany", len(got), err)
	}
	got, err := parser.Parse(t.Context(), "a.c", []byte("x"))
	if err != nil || len(got) != 1 || len(got[0].Name) != ctags.MaxNameBytes {
		t.Errorf("the next text: got %d symbols, %v; want the one with a name of %d bytes", len(got), err, ctags.MaxNameBytes)
	}
}
