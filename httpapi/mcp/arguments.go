package mcp

import (
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/trawlsearch/trawl/httpapi/code"
	querysyntax "github.com/trawlsearch/trawl/query/syntax"
)

// The longest texts of arguments, in bytes.
const (
	maxQueryBytes    = 4 << 10
	maxNameBytes     = 1 << 10
	maxPathBytes     = 4 << 10
	maxRevisionBytes = 1 << 10
)

// size is how long an answer may be.
type size struct {
	MaxBytes int `json:"max_bytes,omitempty" jsonschema:"most bytes of the answer, 1000 to 64000; 16000 if left out"`
}

// within are the arguments that confine a search.
type within struct {
	Repository string `json:"repository,omitempty" jsonschema:"only repositories whose name matches this name or regular expression; one with revision is name@revision"`
	Path       string `json:"path,omitempty" jsonschema:"only files whose path matches this regular expression, such as ^src/ or \\.go$"`
	Language   string `json:"language,omitempty" jsonschema:"only files in this language, such as Go or TypeScript"`
}

// filters adds the filters to a query.
func (w within) filters(text string) (string, error) {
	for _, f := range []struct{ argument, field, value string }{
		{"repository", "repo", w.Repository}, {"path", "file", w.Path}, {"language", "lang", w.Language},
	} {
		if f.value == "" {
			continue
		}
		if err := checkText(f.argument, f.value, maxNameBytes); err != nil {
			return "", err
		}
		if f.field != "lang" {
			pattern := f.value
			if f.field == "repo" {
				pattern, _, _ = strings.Cut(pattern, "@")
			}
			if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
				return "", instruct("%s is no regular expression: %v. Escape . ( ) [ ] * + ? with a backslash to mean the character.", f.argument, err)
			}
		}
		text = querysyntax.WithFilter(text, f.field, f.value)
	}
	return text, nil
}

// checkText judges a text that a search or git is given.
func checkText(argument, value string, most int) error {
	switch {
	case len(value) > most:
		return instruct("%s has %d bytes, the limit is %d: give a shorter one.", argument, len(value), most)
	case strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }):
		return instruct("%s has a control character or a line break: leave it out.", argument)
	}
	return nil
}

// place names a file or directory of a repository.
type place struct {
	Repository string `json:"repository" jsonschema:"name of the repository, as search results and list_repositories show it"`
	Path       string `json:"path" jsonschema:"path from the root of the repository, without a slash in front"`
	Revision   string `json:"revision,omitempty" jsonschema:"branch, tag, commit or an expression of git such as HEAD~3; the default branch if left out"`
}

// check judges a place and cleans its path.
func (p *place) check() error {
	if err := checkRepository(p.Repository); err != nil {
		return err
	}
	if err := checkText("path", p.Path, maxPathBytes); err != nil {
		return err
	}
	clean, ok := code.CleanPath(strings.TrimPrefix(p.Path, "/"))
	if !ok {
		return instruct("path %q leads out of the repository: give the path from its root, such as src/main.go.", shorten(p.Path, 200))
	}
	p.Path = clean
	return checkRevision("revision", p.Revision)
}

func checkRepository(name string) error {
	if name == "" {
		return instruct("repository is empty: give its name; list_repositories shows the names.")
	}
	return checkText("repository", name, maxNameBytes)
}

// checkRevision judges a revision as far as that needs no git.
func checkRevision(argument, rev string) error {
	if strings.HasPrefix(rev, "-") {
		return instruct("%s begins with a dash: give a branch, a tag or a commit.", argument)
	}
	return checkText(argument, rev, maxRevisionBytes)
}

// bounded returns n within bounds, and the default for 0.
func bounded(n, otherwise, most int) int {
	if n == 0 {
		n = otherwise
	}
	return min(max(n, 1), most)
}
