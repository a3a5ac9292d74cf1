// Package trawl_test checks what no package can check of itself: that imports
// run one way, that exported names are explained, and that files stay small
// and speak of nothing outside of this repository. It tests no behaviour.
package trawl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/trawlsearch/trawl"

// arrows has a row for every top-level folder: which others it may import, in
// its tests too. The compiler refuses a circle of packages only; a circle of
// folders has to be refused here.
var arrows = map[string][]string{
	"internal":   {},
	"postings":   {},
	"store":      {"postings"},
	"migrations": {"store"},
	"query":      {"store", "postings"},
	"httpapi":    {"query", "store"},
	"bench":      {"query", "store", "postings"},
	"cmd":        {"httpapi", "bench", "migrations", "query", "store", "postings"},
}

// helpers are packages for tests: the tests of every folder may import them, as they
// may each other, and nothing else may but for those of lent.
var helpers = []string{"internal/needs", "internal/gitrepo", "internal/clock", "internal/tcpproxy", "internal/postgrestest", "internal/race",
	"store/cluster/memorylog", "internal/hosttest", "httpapi/worldtest", "httpapi/searchtest"}

// lent are the helpers that package bench has as well, which tests running programs.
var lent = []string{"internal/tcpproxy", "internal/hosttest"}

// alone are the packages that others build on for what they leave out, and what of
// this module they may import: a client of the API must not drag the server along, and
// a stream knows no pages.
var alone = map[string][]string{
	"httpapi/client":   {},
	"httpapi/age":      {},
	"httpapi/compress": {},
	"httpapi/trace":    {"httpapi/auth", "query", "query/search/report"},
	"httpapi/stream": {"httpapi/auth", "httpapi/compress", "httpapi/stream/event", "httpapi/trace", "query", "query/search",
		"query/search/admission", "query/search/answer", "query/search/report", "query/syntax"},
	"httpapi/stream/event": {"httpapi/age", "query", "query/diff"},
	"store/disk":           {},
	"store/decode":         {},
	"store/object":         {"store/disk"},
	"store/object/s3":      {"store/object"},
}

// hidden are packages that only those named may import: nothing else reads or
// writes the database, and so nothing else depends on its library.
var hidden = map[string][]string{
	"store/engine": {"store", "store/shard"},
}

// steps are the packages of a search, each of which may import those before it: a
// request goes forward through them.
var steps = []string{"ident", "lru", "report", "admission", "execute", "compile", "task", "target", "shardplan", "score", "verify", "rank",
	"answer", "coverage", "documents", "commits", "scope"}

// libraries tells where each may be used, so that swapping one touches one
// folder. "store" is that package only, "store/..." also those below. Tests
// may use more.
var libraries = map[string][]string{
	"github.com/RoaringBitmap/roaring/v2":    {"postings"},
	"github.com/cockroachdb/pebble/v2":       {"store", "store/shard", "store/engine", "store/disk", "httpapi/worldtest"},
	"github.com/cespare/xxhash/v2":           {"store/..."},
	"github.com/minio/minlz":                 {"store/shard"},
	"filippo.io/age":                         {"store/backup"},
	"github.com/chromedp":                    {"bench"},
	"github.com/minio/minio-go/v7":           {"store/object/s3"},
	"github.com/jackc/pgx/v5":                {"store/cluster/postgres"},
	"github.com/johannesboyne/gofakes3":      {"bench"},
	"github.com/containerd/cgroups/v3":       {"bench"},
	"github.com/opencontainers/runtime-spec": {"bench"},
	"github.com/go-enry/go-enry/v2":          {"store/lang"},
	"golang.org/x/crypto":                    {"store/identity"},
	"golang.org/x/text":                      {"store/text"},
	"github.com/alecthomas/chroma/v2":        {"httpapi/..."},
	"github.com/junegunn/fzf":                {"httpapi/finder"},
	"github.com/go-git/gcfg":                 {"httpapi/code"},
	"github.com/yuin/goldmark":               {"httpapi/markdown"},
	"github.com/microcosm-cc/bluemonday":     {"httpapi/markdown"},
	"golang.org/x/net":                       {"httpapi/markdown"},
	"github.com/gorilla/mux":                 {"httpapi/..."},
	"github.com/graph-gophers/graphql-go":    {"httpapi/..."},
	"github.com/tailscale/hujson":            {"httpapi/..."},
	"github.com/ory/fosite":                  {"httpapi/oauth"},
	"github.com/google/go-github/v75":        {"httpapi/hosts/github"},
	"gitlab.com/gitlab-org/api/client-go":    {"httpapi/hosts/gitlab"},
	"code.gitea.io/sdk/gitea":                {"httpapi/hosts/gitea"},
	"github.com/wneessen/go-mail":            {"httpapi/notify"},
	"github.com/coreos/go-oidc/v3":           {"httpapi/oidc"},
	"golang.org/x/oauth2":                    {"httpapi/oidc"},
	"github.com/modelcontextprotocol/go-sdk": {"httpapi/mcp", "bench"},
	"github.com/vektah/gqlparser/v2":         {"httpapi/..."},
	"github.com/prometheus/client_golang":    {"cmd/trawl/metrics"},
	"github.com/coreos/go-systemd/v22":       {"cmd/trawl/systemd"},
	"github.com/fsnotify/fsnotify":           {"cmd/trawl/watch"},
	"go.opentelemetry.io/otel":               {"cmd/trawl/tracing"},
	"github.com/agnivade/levenshtein":        {"cmd/...", "httpapi/browse"},
	"github.com/rs/zerolog":                  {"httpapi/...", "cmd/..."},
	"github.com/spf13/cobra":                 {"cmd/..."},
	"github.com/spf13/pflag":                 {"cmd/..."},
	"github.com/vbauerster/mpb/v8":           {"cmd/..."},
	"go.yaml.in/yaml/v3":                     {"cmd/..."},
	"github.com/tidwall/btree":               {"store", "store/shard"},
	"golang.org/x/sync":                      {"store", "store/shard", "store/object/s3", "store/cluster/runs", "httpapi/compress", "httpapi/stream", "httpapi/monitors"},
	"golang.org/x/sys":                       {"bench", "query/match/pair", "store/git"},
	"golang.org/x/term":                      {"cmd/..."},
}

// refused are the parts of the standard library that a folder promises to do
// without, with all that lies below them. What it needs of them, if anything,
// its callers pass in; and no library logs.
var refused = map[string][]string{
	"postings": {"os", "net", "time", "regexp", "log"},
	"store":    {"net/http", "log"},
	"query":    {"os", "net", "log"},
	"bench":    {"flag", "log"},
}

// source is one Go file of the module, whatever system it is built for.
type source struct {
	pkg  string // below the module, "" for its root
	name string // below the root of the repository
	test bool
	file *ast.File
	fset *token.FileSet
}

// at names a place as compilers do.
func (s source) at(p token.Pos) string {
	return fmt.Sprintf("%s:%d", s.name, s.fset.Position(p).Line)
}

// sources parses what go list finds.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	fset := token.NewFileSet()
	for _, p := range packages(t) {
		files := slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles)
		for _, f := range files {
			s := source{pkg: strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"), fset: fset}
			s.name = filepath.ToSlash(filepath.Join(s.pkg, f))
			s.test = strings.HasSuffix(f, "_test.go")
			var err error
			if s.file, err = parser.ParseFile(fset, s.name, nil, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
	}
	return all
}

// listed is the part of go list's answer that is read here.
type listed struct {
	ImportPath                                                   string
	GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("output of go list: %v", err)
		}
		all = append(all, p)
	}
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := wrongImport(s.pkg, path, s.test); wrong != "" {
				t.Errorf("%s: %s", s.at(spec.Pos()), wrong)
			}
		}
	}
}

// A check that never fails checks nothing.
func TestWrongImport(t *testing.T) {
	tests := []struct {
		pkg, path string
		test      bool
		want      string // part of the message, "" for none
	}{
		// arrows between folders
		{"store/ingest", module + "/postings", false, ""},
		{"query/match", module + "/query/plan", false, ""},
		{"cmd/trawl", module + "/httpapi", false, ""},
		{"store", module + "/query", false, "store imports query; the arrow is query -> store, never back"},
		{"postings", module + "/store", false, "the arrow is store -> postings, never back"},
		{"postings", module + "/migrations", false, "postings may import nothing of this module"},
		{"query/search", module + "/bench", true, "the arrow is bench -> query, never back"},
		{"httpapi", module + "/bench", false, "httpapi may import query, store"},
		{"util", module + "/store", false, "folder util has no row"},
		// the steps of a search
		{"query/search/scope", module + "/query/search/target", false, ""},
		{"query/search", module + "/query/search/scope", false, ""},
		{"query/search/verify", module + "/query/search/rank", false, "a search goes forward"},
		{"query/search/report", module + "/query/search", false, "a search goes forward"},
		{"query/search/new", module + "/query/search/report", false, "no place among the steps"},
		// helpers of tests
		{"postings", module + "/internal/needs", true, ""},
		{"httpapi/client", module + "/internal/needs", true, ""},
		{"postings", module + "/internal/needs", false, "which is for tests"},
		{"internal/needs", module + "/store", false, "may import nothing of this module"},
		{"internal/postgrestest", module + "/internal/needs", false, ""},
		{"bench", module + "/internal/tcpproxy", false, ""},
		{"bench", module + "/internal/needs", false, "which is for tests"},
		// packages that stand alone, except for their tests
		{"httpapi/client", module + "/httpapi", false, "stands alone"},
		{"httpapi/client", module + "/httpapi", true, ""},
		{"httpapi/stream", module + "/httpapi/web", false, "stands alone"},
		{"httpapi/stream/event", module + "/query/search", false, "may import httpapi/age, query, query/diff"},
		{"store/disk", module + "/store/engine", false, "stands alone"},
		{"store/object", module + "/store/disk", false, ""},
		{"store/object", module + "/store", false, "may import store/disk"},
		// packages that few may import
		{"store", module + "/store/engine", false, ""},
		{"store/backup", module + "/store/engine", false, "which only store and store/shard may"},
		// libraries
		{"store", "github.com/cockroachdb/pebble/v2/vfs", false, ""},
		{"httpapi/client", "github.com/rs/zerolog", false, ""},
		{"store/ingest", "github.com/cockroachdb/pebble/v2", false, "only store and store/shard and store/engine and store/disk and httpapi/worldtest may"},
		{"query", "github.com/RoaringBitmap/roaring/v2", false, "only postings may"},
		{"query", "github.com/rs/zerolog", false, "only httpapi/... and cmd/... may"},
		{"store", "example.com/new", false, "no row in libraries"},
		{"store", "pgregory.net/rapid", true, ""},
		// the standard library
		{"postings", "slices", false, ""},
		{"postings", "regexp/syntax", false, "postings does without"},
		{"query/plan", "regexp/syntax", false, ""},
		{"query", "net/http", false, "query does without"},
		{"query", "os", true, ""},
	}
	for _, tt := range tests {
		got := wrongImport(tt.pkg, tt.path, tt.test)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("wrongImport(%s, %s, test %t) = %q, want %q in it", tt.pkg, tt.path, tt.test, got, tt.want)
		}
	}
}

// wrongImport says why a package may not import path and what may, or "".
func wrongImport(pkg, path string, test bool) string {
	first, _, _ := strings.Cut(path, "/")
	switch own, ok := strings.CutPrefix(path, module); {
	case ok && pkg != "":
		return wrongArrow(pkg, strings.TrimPrefix(own, "/"), test)
	case strings.Contains(first, "."):
		return wrongLibrary(pkg, path, test)
	}
	return wrongStandard(pkg, path, test)
}

func wrongArrow(pkg, to string, test bool) string {
	from, _, _ := strings.Cut(pkg, "/")
	target, _, _ := strings.Cut(to, "/")
	may, known := arrows[from]
	switch {
	case slices.Contains(helpers, to) && (test || slices.Contains(helpers, pkg) || pkg == "bench" && slices.Contains(lent, to)):
		return ""
	case slices.Contains(helpers, to):
		return fmt.Sprintf("%s imports %s, which is for tests", pkg, to)
	case !known:
		return fmt.Sprintf("folder %s has no row in arrows (lint_test.go); top-level folders are %s", from, strings.Join(slices.Sorted(maps.Keys(arrows)), ", "))
	case !test && alone[pkg] != nil && !slices.Contains(alone[pkg], to):
		return fmt.Sprintf("%s imports %s, but stands alone: it may import %s", pkg, to, orNothing(alone[pkg]))
	case !test && hidden[to] != nil && !slices.Contains(hidden[to], pkg):
		return fmt.Sprintf("%s imports %s, which only %s may", pkg, to, strings.Join(hidden[to], " and "))
	case strings.HasPrefix(pkg, "query/search") && strings.HasPrefix(to, "query/search") && !test:
		return wrongStep(strings.TrimPrefix(pkg, "query/search/"), strings.TrimPrefix(to, "query/search/"))
	case from == target || slices.Contains(may, target):
		return ""
	case slices.Contains(arrows[target], from):
		return fmt.Sprintf("%s imports %s; the arrow is %s -> %s, never back", pkg, to, target, from)
	}
	return fmt.Sprintf("%s imports %s; %s may import %s", pkg, to, from, orNothing(may))
}

// wrongStep says why a package of a search may not import another, or "".
func wrongStep(from, to string) string {
	at, before := slices.Index(steps, from), slices.Index(steps, to)
	switch {
	case from == "query/search":
		return ""
	case at < 0:
		return fmt.Sprintf("query/search/%s has no place among the steps of a search (lint_test.go)", from)
	case before < 0 || before >= at:
		return fmt.Sprintf("query/search/%s imports %s; a search goes forward: %s", from, to, strings.Join(steps, ", "))
	}
	return ""
}

func wrongLibrary(pkg, path string, test bool) string {
	for library, may := range libraries {
		if path != library && !strings.HasPrefix(path, library+"/") {
			continue
		}
		if test || slices.ContainsFunc(may, func(pattern string) bool { return inside(pkg, pattern) }) {
			return ""
		}
		return fmt.Sprintf("%s imports %s; only %s may, so go through that", pkg, path, strings.Join(may, " and "))
	}
	if test {
		return ""
	}
	return fmt.Sprintf("%s imports %s, which has no row in libraries (lint_test.go); a new one is a commit of its own", pkg, path)
}

func wrongStandard(pkg, path string, test bool) string {
	from, _, _ := strings.Cut(pkg, "/")
	if test || !slices.ContainsFunc(refused[from], func(std string) bool { return inside(path, std+"/...") }) {
		return ""
	}
	return fmt.Sprintf("%s imports %s; %s does without %s: let the caller pass in what it needs",
		pkg, path, from, strings.Join(refused[from], ", "))
}

// inside tells whether a path fits "folder" or "folder/...".
func inside(path, pattern string) bool {
	folder, deep := strings.CutSuffix(pattern, "/...")
	return path == folder || deep && strings.HasPrefix(path, folder+"/")
}

func orNothing(folders []string) string {
	if len(folders) == 0 {
		return "nothing of this module"
	}
	return strings.Join(folders, ", ")
}
