package main

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/httpapi/complete"
)

// A shell takes completions that begin with what was typed.
func TestShellWords(t *testing.T) {
	repo := func(name string) complete.Item {
		return complete.Item{Text: `repo:^` + name + `$ `, Label: name, Kind: "repository"}
	}
	for _, c := range []struct {
		word  string
		items []complete.Item
		want  []string
		space bool
	}{
		{"la", []complete.Item{{Text: "lang:", Label: "lang:", Kind: "filter"}}, []string{"lang:\tfilter"}, false},
		{"lang:g", []complete.Item{{Text: "lang:go ", Label: "Go", Kind: "language"}}, []string{"lang:go\tlanguage"}, true},
		{"x (l:g", []complete.Item{{Text: "lang:go ", Label: "Go", Kind: "language"}}, []string{"x (l:go\tlanguage"}, true},
		{"repo:lab/", []complete.Item{repo("lab/kiln"), repo("other/lab/kiln")}, []string{"repo:lab/kiln\trepository"}, true},
		{"-repo:", []complete.Item{repo("git.example.org/a"), repo("a b/(1)")},
			[]string{"-repo:git.example.org/a\trepository", "-repo:\"a b/\\\\(1\\\\)\"\trepository"}, true},
		{"repo:^l", []complete.Item{repo("lab")}, []string{"repo:^lab$\trepository"}, true},
		{"repo:", []complete.Item{repo("a\x1b[2J"), repo("a\tb"), repo("a\nb")}, nil, true},
		{"", nil, nil, true},
	} {
		got, directive := shellWords(c.word, complete.Answer{Items: c.items})
		space := directive&cobra.ShellCompDirectiveNoSpace == 0
		if !slices.Equal(got, c.want) || space != c.space {
			t.Errorf("%q: %q with a space behind %t, want %q, %t", c.word, got, space, c.want, c.space)
		}
	}
}
