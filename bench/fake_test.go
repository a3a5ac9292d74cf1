package bench_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/trawlsearch/trawl/bench"
)

// fakeVariable turns the test binary into a stand-in for trawl: a search by Go's
// regexp over everything, which knows the small query set by heart. Its value
// says how faithful the stand-in is.
const fakeVariable = "TRAWL_BENCH_FAKE"

const (
	honest = "honest"
	// forgetful drops the last line of every answer of more than one.
	forgetful = "forgetful"
	// inventive reports a line too many.
	inventive = "inventive"
	// stale indexes only once.
	stale = "stale"
	// failing ends serve with an error.
	failing = "failing"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeVariable); mode != "" {
		program := func(args []string) error { return fakeTrawl(mode, args) }
		if peer := fakePrograms[filepath.Base(os.Args[0])]; peer != nil {
			program = peer
		}
		if err := program(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	code := m.Run()
	built.remove()
	fake.remove()
	os.Exit(code)
}

func fakeTrawl(mode string, args []string) error {
	flag := func(name string) string {
		if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	store := filepath.Join(flag("--data"), "corpus.json")
	switch args[0] {
	case "version":
		fmt.Println("trawl of the tests")
		return nil
	case "index":
		if _, err := os.Stat(store); err == nil && mode == stale {
			return nil
		}
		return fakeIndex(store, args[len(args)-1])
	case "repo":
		return fakeSkipped(store)
	case "serve":
		if mode == failing {
			return errors.New("no luck today")
		}
		return fakeServe(mode, store, flag("--listen"))
	}
	return fmt.Errorf("unknown command %q", args)
}

func fakeIndex(store, repository string) error {
	archive, err := exec.Command("git", "--git-dir="+repository, "archive", "HEAD").Output()
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	in := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeReg {
			if files[h.Name], err = io.ReadAll(in); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(store), 0o755); err != nil {
		return err
	}
	return os.WriteFile(store, text, 0o644)
}

func loadFake(store string) (map[string][]byte, error) {
	text, err := os.ReadFile(store)
	if err != nil {
		return nil, err
	}
	var files map[string][]byte
	return files, json.Unmarshal(text, &files)
}

func isUTF16(content []byte) bool { return bytes.HasPrefix(content, []byte{0xff, 0xfe}) }

func fakeSkipped(store string) error {
	files, err := loadFake(store)
	if err != nil {
		return err
	}
	for name, content := range files {
		if bytes.IndexByte(content, 0) >= 0 && !isUTF16(content) {
			line, _ := json.Marshal(map[string]any{"path": name, "reason": "binary", "size": len(content)})
			fmt.Println(string(line))
		}
	}
	return nil
}

func fakeServe(mode, store, addr string) error {
	files, err := loadFake(store)
	if err != nil {
		return err
	}
	queries, err := bench.QuerySet("small")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /trace", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("format") == "json" {
			fmt.Fprint(w, `{"steps":[{"name":"plan","fields":{"lists":3,"note":"x"}},{"fields":{"blocks":4,"bytes":500,"candidates":2}}]}`)
		}
	})
	mux.HandleFunc("GET /.api/search/stream", func(w http.ResponseWriter, r *http.Request) {
		fakeStream(w, mode, files, queries, r.FormValue("q"))
	})
	srv := &http.Server{Addr: addr, Handler: mux}
	// The interrupt is caught before the server can be asked anything.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	go func() {
		<-stop
		_ = srv.Close()
	}()
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func fakeStream(w io.Writer, mode string, files map[string][]byte, queries []bench.Query, text string) {
	i := slices.IndexFunc(queries, func(q bench.Query) bool {
		return q.Exhaustive() == text || q.Limited(500) == text
	})
	var matches []map[string]any
	results := 0
	switch {
	case text == "count:all repo:.":
		matches, results = []map[string]any{{"type": "repo", "repository": "toy"}}, 1
	case i >= 0 && queries[i].Kind == bench.Repository:
		matches, results = []map[string]any{{"type": "repo", "repository": "toy"}}, 1
	case i >= 0:
		matches, results = fakeSearch(files, queries[i])
	default:
		// The word that the harness adds to changed files.
		word := text[strings.LastIndexByte(text, ' ')+1:]
		matches, results = fakeSearch(files, bench.Query{Scope: bench.Lines, Terms: []bench.Term{{Text: word}}})
	}
	matches = distort(mode, matches)
	for batch := range slices.Chunk(matches, 7) {
		data, _ := json.Marshal(batch)
		fmt.Fprintf(w, "event: matches\ndata: %s\n\n", data)
	}
	fmt.Fprintf(w, "event: progress\ndata: {\"done\":true,\"matchCount\":%d,\"durationMs\":1,\"skipped\":[],\"trace\":\"http://elsewhere/trace\"}\n\n", results)
	fmt.Fprint(w, "event: done\ndata: {}\n\n")
}

// distort makes the answer as wrong as mode wants it.
func distort(mode string, matches []map[string]any) []map[string]any {
	switch {
	case mode == forgetful && len(matches) > 1:
		return matches[:len(matches)-1]
	case mode == inventive && len(matches) > 1 && matches[0]["type"] == "content":
		return append(matches, contentMatch(matches[0]["path"].(string), [][2]int{{3, 3}, {1, 2}}))
	}
	return matches
}

func contentMatch(name string, lines [][2]int) map[string]any {
	var ranges []map[string]any
	for _, l := range lines {
		ranges = append(ranges, map[string]any{
			"start": map[string]int{"line": l[0], "column": 0}, "end": map[string]int{"line": l[1], "column": 1},
		})
	}
	return map[string]any{"type": "content", "repository": "toy", "path": name, "chunkMatches": []any{map[string]any{"ranges": ranges}}}
}

// fakeSearch answers q from its description for line-based tools, with Go's
// regexp over whole files, so that both readings of a query are tried.
func fakeSearch(files map[string][]byte, q bench.Query) (matches []map[string]any, results int) {
	limit := 1 << 30
	if m := regexp.MustCompile(`count:(\d+)`).FindStringSubmatch(q.Text); m != nil {
		limit, _ = strconv.Atoi(m[1])
	}
	for _, name := range sortedNames(files) {
		if results == limit {
			break
		}
		content := decode(files[name])
		switch {
		case !fitsGlobs(q.Globs, name):
		case q.Scope == bench.Paths:
			if strings.Contains(name, q.PathRegexps[0]) {
				matches = append(matches, map[string]any{"type": "path", "repository": "toy", "path": name})
				results++
			}
		case bytes.IndexByte(content, 0) >= 0 || !holdsTerms(q, content):
		default:
			lines := matchLines(q, content)
			lines = lines[:min(len(lines), limit-results)]
			if len(lines) == 0 {
				continue
			}
			results += len(lines)
			if q.Scope == bench.Files {
				matches = append(matches, map[string]any{"type": "path", "repository": "toy", "path": name})
			} else {
				matches = append(matches, contentMatch(name, lines))
			}
		}
	}
	return matches, results
}

func decode(content []byte) []byte {
	if !isUTF16(content) {
		return content
	}
	var units []uint16
	for i := 2; i+1 < len(content); i += 2 {
		units = append(units, uint16(content[i])|uint16(content[i+1])<<8)
	}
	return []byte(string(utf16.Decode(units)))
}

func compileTerm(q bench.Query, t bench.Term) *regexp.Regexp {
	flags := "(?im)"
	if q.CaseSensitive() {
		flags = "(?m)"
	}
	return regexp.MustCompile(flags + t.Pattern())
}

func holdsTerms(q bench.Query, content []byte) bool {
	holds := func(t bench.Term) bool { return compileTerm(q, t).Match(content) }
	if slices.ContainsFunc(q.Without, holds) {
		return false
	}
	return !q.All || !slices.ContainsFunc(q.Terms, func(t bench.Term) bool { return !holds(t) })
}

// matchLines returns first and last line, from 0, of every match.
func matchLines(q bench.Query, content []byte) [][2]int {
	var lines [][2]int
	for _, t := range q.Terms {
		for _, m := range compileTerm(q, t).FindAllIndex(content, -1) {
			first := bytes.Count(content[:m[0]], []byte("\n"))
			lines = append(lines, [2]int{first, first + bytes.Count(content[m[0]:m[1]-1], []byte("\n"))})
		}
	}
	return lines
}

// fitsGlobs understands the few forms that the small set uses.
func fitsGlobs(globs []string, name string) bool {
	fits := true
	for _, g := range globs {
		glob, negated := strings.CutPrefix(g, "!")
		in := false
		if folder, ok := strings.CutSuffix(glob, "/**"); ok {
			in = strings.HasPrefix(name, strings.TrimPrefix(folder, "/")+"/")
		} else {
			in, _ = path.Match(glob, path.Base(name))
		}
		fits = fits && in != negated
	}
	return fits
}

func sortedNames(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
