package bench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// installFakePeers puts the stand-in on PATH under the names of zoekt's and
// codesearch's programs.
func installFakePeers(t *testing.T) {
	t.Helper()
	fake, dir := fakeBinary(t), t.TempDir()
	for name := range fakePrograms {
		if err := os.Symlink(fake, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// fakePrograms are the peers that the test binary stands in for by its name.
var fakePrograms = map[string]func(args []string) error{
	"zoekt-git-index": fakeZoektIndex,
	"zoekt-webserver": fakeZoektServe,
	"cindex":          fakeCindex,
	"csearch":         fakeCsearch,
}

func fakeFlag(args []string, name string) string {
	if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func fakeZoektIndex(args []string) error {
	if root := fakeFlag(args, "-repo_cache"); root != "" {
		return fakeManyIndex(fakeFlag(args, "-index"), root, args[len(args)-1])
	}
	return fakeIndex(filepath.Join(fakeFlag(args, "-index"), "corpus.json"), args[len(args)-1])
}

// zoektUnread is a file that the stand-in for zoekt does not index.
const zoektUnread = "odd/long-line.txt"

func fakeZoektServe(args []string) error {
	if slices.Contains(args, "-version") {
		fmt.Println("zoekt of the tests")
		return nil
	}
	answer, err := fakeZoektAnswers(fakeFlag(args, "-index"))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /api/search", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Q    string
			Opts struct{ TotalMaxMatchCount int }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(answer(asked.Q, asked.Opts.TotalMaxMatchCount))
	})
	srv := &http.Server{Addr: fakeFlag(args, "-listen"), Handler: mux}
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

// fakeZoektAnswers returns what answers queries over the index in dir: one of
// many repositories, or of the corpus that the small query set is for.
func fakeZoektAnswers(dir string) (func(text string, limit int) any, error) {
	if many, err := loadFakeMany(dir); err != nil || len(many) > 0 {
		return many.answer, err
	}
	files, err := loadFake(filepath.Join(dir, "corpus.json"))
	if err != nil {
		return nil, err
	}
	queries, err := bench.QuerySet("small")
	if err != nil {
		return nil, err
	}
	delete(files, zoektUnread)
	return func(text string, limit int) any { return fakeZoektAnswer(files, queries, text, limit) }, nil
}

type fakeZoektLine struct {
	LineNumber int
	FileName   bool
}

type fakeZoektFile struct {
	FileName    string
	LineMatches []fakeZoektLine
}

func fakeZoektAnswer(files map[string][]byte, queries []bench.Query, text string, limit int) any {
	var found []fakeZoektFile
	i := slices.IndexFunc(queries, func(q bench.Query) bool { said, _ := bench.ZoektQuery(q); return said == text })
	if strings.Contains(text, "NOT-INDEXED") {
		found = append(found, fakeZoektFile{zoektUnread, []fakeZoektLine{{1, false}}})
	} else if i >= 0 {
		q := queries[i]
		q.Text = "" // has a limit for trawl
		if queries[i].CaseSensitive() {
			q.Text = "case:yes x"
		}
		matches, _ := fakeSearch(files, q)
		for _, m := range matches[:min(len(matches), limit)] {
			found = append(found, fakeZoektFile{m["path"].(string), fakeZoektLines(m)})
		}
	}
	return map[string]any{"Result": map[string]any{"Files": found}}
}

// fakeZoektLines turns the ranges of a match, as trawl sends them, into lines.
func fakeZoektLines(match map[string]any) []fakeZoektLine {
	chunks, ok := match["chunkMatches"].([]any)
	if !ok {
		return []fakeZoektLine{{0, true}}
	}
	var lines []fakeZoektLine
	for _, r := range chunks[0].(map[string]any)["ranges"].([]map[string]any) {
		start, end := r["start"].(map[string]int)["line"], r["end"].(map[string]int)["line"]
		for line := start; line <= end; line++ {
			lines = append(lines, fakeZoektLine{line + 1, false})
		}
	}
	return lines
}

// fakeCindex lists the files below a directory, without hidden ones and one
// that is not UTF-8.
func fakeCindex(args []string) error {
	var names []string
	err := filepath.WalkDir(args[0], func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") && d.Name() != "latin1.txt" {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(os.Getenv("CSEARCHINDEX"), []byte(strings.Join(names, "\n")), 0o644)
}

func fakeCsearch(args []string) error {
	index, err := os.ReadFile(os.Getenv("CSEARCHINDEX"))
	if err != nil {
		return err
	}
	flags := "(?m)"
	if slices.Contains(args, "-i") {
		flags = "(?im)"
	}
	pattern, err := regexp.Compile(flags + args[len(args)-1])
	if err != nil {
		return err
	}
	where, err := regexp.Compile(fakeFlag(args, "-f"))
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(string(index), "\n") {
		if !where.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if !pattern.MatchString(strings.TrimSuffix(line, "\n")) {
				continue
			}
			if slices.Contains(args, "-l") {
				fmt.Println(name)
				break
			}
			fmt.Printf("%s:%d:%s\n", name, n, strings.TrimSuffix(line, "\n"))
		}
	}
	return nil
}
