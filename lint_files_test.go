package trawl_test

import (
	"bytes"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxLines of a source file; a longer one usually holds two nouns.
const maxLines = 600

// longFiles are longer than that and say why.
var longFiles = map[string]string{}

// sourceFiles are what maxLines holds for: what people write by hand.
var sourceFiles = []string{".go", ".js", ".css", ".html", ".graphql"}

// elsewhere names what a clone of this repository cannot have: folders of one
// machine, and package registries, which are each user's own choice. (Each is
// cut in two here, so that this file does not name it.)
var elsewhere = []string{
	"/wor" + "k/", "../share" + "d", "prox" + "y.golang.org", "su" + "m.golang.org", "de" + "b.debian.org",
	"npmj" + "s.org", "npmj" + "s.com", "pyp" + "i.org", "crate" + "s.io", "docke" + "r.io", "ghc" + "r.io",
}

func TestFileLengths(t *testing.T) {
	lines := map[string]int{}
	for name, text := range files(t) {
		if slices.Contains(sourceFiles, filepath.Ext(name)) && !strings.Contains(name, "testdata/") {
			lines[name] = bytes.Count(text, []byte("\n"))
		}
	}
	for name, n := range lines {
		if n > maxLines && longFiles[name] == "" {
			t.Errorf("%s has %d lines, want at most %d: split it by noun, or give a reason in longFiles (lint_files_test.go)",
				name, n, maxLines)
		}
	}
	for name := range longFiles {
		if lines[name] <= maxLines {
			t.Errorf("%s has %d lines: longFiles (lint_files_test.go) need not name it any more", name, lines[name])
		}
	}
}

func TestSelfContained(t *testing.T) {
	for name, text := range files(t) {
		for _, place := range outside(text) {
			t.Errorf("%s:%s, which lies outside of this repository", name, place)
		}
	}
}

func TestOutside(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a\nb\ncp /wor" + "k/main/x .\n", "[3 mentions /wor" + "k/]"},
		{"see ../share" + "d/style.md", "[1 mentions ../share" + "d]"},
		{"GOPROXY=https://prox" + "y.golang.org", "[1 mentions prox" + "y.golang.org]"},
		{"/workspace, /home/work and ../share/doc at https://golang.org", "[]"},
	} {
		if got := fmt.Sprint(outside([]byte(tt.text))); got != tt.want {
			t.Errorf("outside(%q) = %s, want %s", tt.text, got, tt.want)
		}
	}
}

// outside finds the first place of each word of elsewhere, as line and word.
func outside(text []byte) []string {
	var places []string
	for _, word := range elsewhere {
		if i := bytes.Index(text, []byte(word)); i >= 0 {
			places = append(places, fmt.Sprintf("%d mentions %s", bytes.Count(text[:i], []byte("\n"))+1, word))
		}
	}
	return places
}

func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## .*`).Find(text)
	if !regexp.MustCompile(`(?i)^## \[?unreleased\b`).Match(heading) {
		t.Errorf("the first section of CHANGELOG.md is %q, want \"## Unreleased\"", heading)
	}
}

// files returns the text files of the repository by name. It walks the tree
// rather than ask git, so that go test sees when its cached answer is old.
func files(t *testing.T) map[string][]byte {
	t.Helper()
	const maxBytes = 4 << 20
	all := map[string][]byte{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular() || d.Name() == ".git": // in a worktree, .git is a file
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxBytes {
			return err
		}
		text, err := os.ReadFile(name)
		if err == nil && bytes.IndexByte(text, 0) < 0 {
			all[filepath.ToSlash(name)] = text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// testName is how documents name the test of what they say.
var testName = regexp.MustCompile("`(Test[A-Z]\\w+)`")

// TestNamedTestsExist: what a document says is shown by a test is so.
func TestNamedTestsExist(t *testing.T) {
	all := files(t)
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for name, text := range all {
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range declared.FindAllSubmatch(text, -1) {
				there[string(m[1])] = true
			}
		}
	}
	for name, text := range all {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		for _, m := range testName.FindAllSubmatch(text, -1) {
			if !there[string(m[1])] {
				t.Errorf("%s names %s, which is no test", name, m[1])
			}
		}
	}
}

// TestTestsAreBuilt: Go leaves out files whose names end in those of other systems, such as
// _windows_test.go, without a word, and their tests never run.
func TestTestsAreBuilt(t *testing.T) {
	for name := range files(t) {
		if !strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		built := build.Default
		built.GOOS, built.GOARCH, built.CgoEnabled = "linux", "amd64", true
		built.BuildTags = []string{"race"}
		plain := built
		plain.BuildTags = nil
		with, err := built.MatchFile(path.Split(name))
		if err != nil {
			t.Fatal(err)
		}
		without, err := plain.MatchFile(path.Split(name))
		if err != nil {
			t.Fatal(err)
		}
		if !with && !without {
			t.Errorf("%s is not built on Linux: its tests never run", name)
		}
	}
}

// TestArchitectureNamesPackages: the table of ARCHITECTURE.md has every package and every file to begin at.
func TestArchitectureNamesPackages(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[^|]*) \\|[^|]*\\| ([^|]*) \\|$")
	quoted := regexp.MustCompile("`([^`]+)`")
	named := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		var folders []string
		for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
			named[q[1]] = true
			folders = append(folders, q[1])
		}
		for _, q := range quoted.FindAllStringSubmatch(m[2], -1) {
			exists := func(folder string) bool {
				_, err := os.Stat(filepath.Join(folder, q[1]))
				return err == nil
			}
			if !slices.ContainsFunc(append(folders, "."), exists) {
				t.Errorf("ARCHITECTURE.md names %s, which is not in %s", q[1], strings.Join(folders, " or "))
			}
		}
	}
	for _, p := range packages(t) {
		if name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"); name != "" && !named[name] {
			t.Errorf("package %s has no row in ARCHITECTURE.md", name)
		}
	}
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdFence   = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	mdHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names by which links reach the headings of a document.
func anchors(text []byte) map[string]bool {
	all := map[string]bool{}
	for _, m := range mdHeading.FindAllSubmatch(text, -1) {
		name := notAnchor.ReplaceAllString(strings.ToLower(string(m[1])), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

// TestDocumentLinks: links of documents to files of the repository, and to
// headings in them, lead somewhere.
func TestDocumentLinks(t *testing.T) {
	all := files(t)
	for name, text := range all {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		for _, m := range mdLink.FindAllSubmatch(mdFence.ReplaceAll(text, nil), -1) {
			link := string(m[1])
			if strings.Contains(link, "://") {
				continue
			}
			file, heading, _ := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", name, link, err)
			} else if heading != "" && !anchors(all[target])[heading] {
				t.Errorf("%s links to %s: %s has no such heading", name, link, target)
			}
		}
	}
}
