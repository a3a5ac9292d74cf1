package bench_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

// TestMany runs all of it with a few repositories and a stand-in for zoekt, which
// cannot index the empty ones.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts servers")
	}
	installFakePeers(t)
	t.Setenv(fakeVariable, honest)
	r, err := bench.Many(t.Context(), bench.ManyConfig{
		Trawl: builtTrawl(t), Work: filepath.Join(t.TempDir(), "many"), Repositories: 40, Seed: 1, Memory: "256MiB",
		Peers: []string{"zoekt"}, Runs: 2, Commits: 2, Idle: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) > 0 {
		t.Errorf("problems %q, want none", r.Problems)
	}
	if r.Fleet.Empty == 0 || r.Zoekt.Failed != r.Fleet.Empty || r.Zoekt.Each.Count != 40 {
		t.Errorf("%d empty repositories, zoekt was run %d times and failed %d times; want one run each, and a failure for each empty one",
			r.Fleet.Empty, r.Zoekt.Each.Count, r.Zoekt.Failed)
	}
	if r.Text.Shards == 0 || r.Text.DiskBytes == 0 || r.Bulk.Shards == 0 || r.Bulk.Absent.Count == 0 || r.Unchanged.CPU == 0 || r.Restart.Ready == 0 {
		t.Errorf("a figure is missing: %+v, %+v, %+v, %+v", r.Text, r.Bulk, r.Unchanged, r.Restart)
	}
	for _, q := range r.Queries {
		want := 2
		if q.Matches <= 1 {
			want = 14
		}
		zoekt := want
		if strings.Contains(q.Text, "rev:") {
			want, zoekt = 2, 0
		}
		if len(q.AtOnce) != want || len(q.Later) != want || len(q.Zoekt) != zoekt {
			t.Errorf("%s: %d, %d and %d runs, want %d, %d and %d", q.Name, len(q.AtOnce), len(q.Later), len(q.Zoekt), want, want, zoekt)
		}
	}
	for _, c := range r.Commits {
		// Found is noted by another goroutine, which may have its turn first.
		if c.Synced <= 0 || c.Read > c.Synced || c.Found <= 0 {
			t.Errorf("commit in %s: read after %s, found after %s, synced after %s", c.Repository, c.Read, c.Found, c.Synced)
		}
	}
	checkManyText(t, r)
}

// checkManyText wants the tables to have a row for everything.
func checkManyText(t *testing.T, r *bench.ManyReport) {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"40 of seed 1", "trawl, text", "zoekt  ", "word of all, every match", "ready after", "first index, share of zoekt", "0 problems"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &b)
		}
	}
}

// TestManyEndsEarly: what was measured until an error is in the report.
func TestManyEndsEarly(t *testing.T) {
	t.Setenv(fakeVariable, honest) // it reads no configuration file
	r, err := bench.Many(t.Context(), bench.ManyConfig{Trawl: fakeBinary(t), Work: t.TempDir(), Repositories: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0], "the run ended early: trawl index: ") || r.Fleet.Repositories != 2 {
		t.Errorf("problems %q of %d repositories, want one of trawl index and 2", r.Problems, r.Fleet.Repositories)
	}
	for _, c := range r.Checks {
		t.Errorf("%s is judged: %+v", c.Name, c)
	}
}

func TestManyRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		config bench.ManyConfig
		want   string
	}{
		{bench.ManyConfig{Trawl: "x"}, "a work directory"},
		{bench.ManyConfig{Trawl: "x", Work: full}, "is not empty"},
		{bench.ManyConfig{Trawl: "x", Work: t.TempDir(), Memory: "much"}, `memory "much"`},
		{bench.ManyConfig{Trawl: "x", Work: t.TempDir(), Peers: []string{"rg"}}, `no peer "rg" reads many`},
	} {
		if _, err := bench.Many(t.Context(), tt.config); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one with %q", tt.config, err, tt.want)
		}
	}
}

// fakeMany are the files of many repositories, by name.
type fakeMany map[string]map[string][]byte

func fakeManyIndex(dir, root, repository string) error {
	name := strings.TrimSuffix(strings.TrimPrefix(repository, root+"/"), ".git")
	return fakeIndex(filepath.Join(dir, url.PathEscape(name)+".zoekt"), repository)
}

func loadFakeMany(dir string) (fakeMany, error) {
	shards, err := filepath.Glob(filepath.Join(dir, "*.zoekt"))
	if err != nil {
		return nil, err
	}
	many := fakeMany{}
	for _, shard := range shards {
		name, err := url.PathUnescape(strings.TrimSuffix(filepath.Base(shard), ".zoekt"))
		if err != nil {
			return nil, err
		}
		if many[name], err = loadFake(shard); err != nil {
			return nil, err
		}
	}
	return many, nil
}

// answer finds the lines with the word of a content: filter.
func (m fakeMany) answer(text string, limit int) any {
	quoted := func(filter string) string {
		_, rest, ok := strings.Cut(text, filter)
		if !ok {
			return ""
		}
		var value string
		_ = json.NewDecoder(strings.NewReader(rest)).Decode(&value)
		return value
	}
	repositories, word := regexp.MustCompile(quoted("repo:")), quoted("content:")
	var found []fakeZoektFile
	for name, files := range m {
		for _, path := range sortedNames(files) {
			if !repositories.MatchString(name) || len(found) >= limit {
				continue
			}
			lines := slices.Collect(strings.Lines(string(files[path])))
			if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, word) }); i >= 0 {
				found = append(found, fakeZoektFile{path, []fakeZoektLine{{i + 1, false}}})
			}
		}
	}
	return map[string]any{"Result": map[string]any{"Files": found}}
}
