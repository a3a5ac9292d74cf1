package finder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/store"
)

// The best path comes first.
func TestPatternRanks(t *testing.T) {
	paths := []string{
		"kernel/sched/core.c", "kernel/sched/core_sched.c", "fs/proc/kcore.c", "net/core/dev.c", "docs/scheduler/core.md", "README.md",
		"readme/other.txt", "tools/read_me_not.go", "src/Größe.go", "a b/c d.txt", "x/sched.c", "score.c", "drivers/net/ethernet/core.c",
	}
	repository := &store.Repository{Name: "lab/kiln"}
	for text, want := range map[string]string{
		"schedcore":          "kernel/sched/core.c",
		"sched core":         "kernel/sched/core.c",
		"core sched":         "kernel/sched/core.c",
		"core.c":             "net/core.c",
		"README":             "README.md",
		"readme":             "README.md",
		"grosse":             "",
		"große":              "src/Größe.go",
		"größe":              "src/Größe.go",
		"dschmd":             "docs/scheduler/core.md",
		"ks/core":            "kernel/sched/core.c",
		"c d.txt":            "a b/c d.txt",
		"nosuch":             "",
		"[.*+?^${}()|\\":     "",
		"\xff":               "",
		"zzzzzzzzzzzzzzzzzz": "",
	} {
		s := newSearch(text, 3, time.Minute)
		for _, path := range append(paths, "net/core.c") {
			if err := s.compare(t.Context(), "", file{repository: repository, path: path}, always); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if len(s.best.files) > 0 {
			got = s.best.files[0].path
		}
		if text == "core.c" && slices.ContainsFunc(s.best.files, func(f file) bool { return f.path == want }) {
			continue // one of several as good
		}
		if got != want {
			t.Errorf("%q finds %q first, want %q", text, got, want)
		}
	}
}

// What is left out unseen is not among the best: these are those of all that match.
func TestSearchFindsTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	letters := []rune("aaabbcAB/.é")
	word := func(most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	for range 300 {
		text := word(3)
		s, p := newSearch(text, 5, time.Minute), newPattern(text)
		var all []file
		for n := range 10 {
			repository := &store.Repository{Name: fmt.Sprintf("%s-%d", word(4), n)}
			for range 20 {
				f := file{repository: repository, path: word(8), quality: byte(random.IntN(2))}
				if err := s.compare(t.Context(), repository.Name+"/", f, always); err != nil {
					t.Fatal(err)
				}
				var ok bool
				if f.found, ok = p.find(repository.Name+"/", f.path, 0); ok {
					all = append(all, f)
				}
			}
		}
		slices.SortStableFunc(all, compare)
		want := all[:min(len(all), 5)]
		if !slices.EqualFunc(s.best.files, want, func(a, b file) bool { return compare(a, b) == 0 }) {
			t.Fatalf("%q finds %+v, want %+v", text, s.best.files, want)
		}
	}
}

// What is left out is not among the best.
func TestPatternLeavesOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "aabbcAB/_.-1é "
	word := func(most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteRune([]rune(letters)[random.IntN(utf8.RuneCountInString(letters))])
		}
		return b.String()
	}
	leftOut, unseen := 0, 0
	for range 1000 {
		text := word(5)
		p := newPattern(text)
		for range 100 {
			path := word(12)
			f, ok := p.find("ab/", path, 0)
			may := p.mayMatch("ab/", path)
			if !may {
				unseen++
			}
			if !ok {
				continue
			}
			if !may || f.named && !p.mayName(path) {
				t.Fatalf("%q in %q is left out unseen", text, path)
			}
			if again, ok := p.find("ab/", path, f.score); !ok || again != f {
				t.Fatalf("%q in %q: %+v, and %+v, %v where its score is needed", text, path, f, again, ok)
			}
			if _, ok := p.find("ab/", path, p.most); !ok {
				leftOut++
			}
		}
	}
	if leftOut < 1000 || unseen < 10_000 {
		t.Errorf("%d paths were left out for their scores, and %d unseen", leftOut, unseen)
	}
}

func TestPatternMarks(t *testing.T) {
	for _, c := range []struct{ text, prefix, path, want string }{
		{"core", "", "net/core/dev.c", "[[4 8]]"},
		{"nc dev", "", "net/core/dev.c", "[[0 1] [4 5] [9 12]]"},
		{"kiln core", "lab/kiln/", "core.c", "[[0 4]]"},
		{"ße", "", "ö/ße.c", "[[2 4]]"},
		{"c", "", "\xff\xfe/c", "[[3 4]]"},
		{"e", "a\xff/", "é", "[[0 1]]"},
	} {
		if got := fmt.Sprint(newPattern(c.text).marks(c.prefix, c.path)); got != c.want {
			t.Errorf("%q in %q %q: %s, want %s", c.text, c.prefix, c.path, got, c.want)
		}
	}
}

// No path and no pattern is too odd or too long.
func FuzzPattern(f *testing.F) {
	f.Add("core sched", "lab/kiln/", "kernel/sched/core.c")
	f.Add("\u202eü ß", "\xff/", "\x00\xff\n\u0130")
	f.Add(strings.Repeat("a", 200), "", strings.Repeat("ab", 2048))
	f.Add(strings.Repeat("a ", 100), "a/", strings.Repeat("İ", 2048))
	f.Fuzz(func(t *testing.T, text, prefix, path string) {
		if len(text) > maxPattern || prefix != "" && !strings.HasSuffix(prefix, "/") {
			return
		}
		p := newPattern(text)
		f, ok := p.find(prefix, path, 0)
		if !ok {
			return
		}
		if !p.mayMatch(prefix, path) || f.named && !p.mayName(path) {
			t.Errorf("%q in %q %q is left out unseen", text, prefix, path)
		}
		if again, ok := p.find(prefix, path, f.score); !ok || again != f {
			t.Errorf("%q in %q %q: %+v, and %+v, %v where its score is needed", text, prefix, path, f, again, ok)
		}
		last, length := -1, len([]rune(path))
		for _, m := range p.marks(prefix, path) {
			if m[0] <= last || m[1] <= m[0] || m[1] > length {
				t.Errorf("%q in %q %q: marks %v", text, prefix, path, p.marks(prefix, path))
			}
			last = m[1]
		}
	})
}

// A search whose time is over keeps what it has.
func TestSearchEnds(t *testing.T) {
	s := newSearch("x", 5, -time.Second)
	var err error
	n := 0
	for ; err == nil && n < 10*lookEvery; n++ {
		err = s.compare(t.Context(), "", file{repository: &store.Repository{}, path: fmt.Sprintf("x%d", n)}, always)
	}
	if err != errEnough || n != lookEvery || len(s.best.files) != 5 {
		t.Errorf("ended with %v after %d paths and %d files", err, n, len(s.best.files))
	}
}

// BenchmarkSearch compares as many paths as the Linux kernel has, of its lengths.
func BenchmarkSearch(b *testing.B) {
	var paths []string
	for i := range 85_000 {
		paths = append(paths, fmt.Sprintf("drivers/%s%d/sub%d/mod_%d_core.c", []string{"net", "gpu", "usb", "media"}[i%4], i%97, i%13, i))
	}
	repository := &store.Repository{}
	for _, text := range []string{"c", "core", "dcore", "netcore", "gpu77 core", "nosuchfile"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := newSearch(text, defaultLimit, time.Minute)
				for _, path := range paths {
					if err := s.compare(b.Context(), "", file{repository: repository, path: path}, always); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
