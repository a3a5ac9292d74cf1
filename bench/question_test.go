package bench_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

func TestShippedQuestions(t *testing.T) {
	set, err := bench.ShippedQuestions()
	if err != nil {
		t.Fatal(err)
	}
	each := map[string]int{}
	for _, q := range set.Questions {
		each[q.Repository]++
		if len(q.Terms) < 2 || len(q.Terms) > 5 {
			t.Errorf("%s has %d terms", q.Name, len(q.Terms))
		}
	}
	for _, name := range []string{"git", "etcd", "redis"} {
		if each[name] != 20 || len(set.Commits[name]) != 40 {
			t.Errorf("%s at %q has %d questions", name, set.Commits[name], each[name])
		}
	}
}

func TestParseQuestions(t *testing.T) {
	const head = "repository: kiln\ncommit: 12\n\n"
	const question = "name: a\nrepository: kiln\nkind: behaviour\nquestion: Why?\nterms: brick fire\nanswer: a/b.go:3: fire()\n"
	set, err := bench.ParseQuestions(head + question + "answer: c.go:14: burn: it\n")
	if err != nil {
		t.Fatal(err)
	}
	want := bench.AnswerLine{Path: "c.go", Line: 14, Text: "burn: it"}
	if len(set.Questions) != 1 || len(set.Questions[0].Answers) != 2 || set.Questions[0].Answers[1] != want || set.Commits["kiln"] != "12" {
		t.Errorf("got %+v", set)
	}
	for text, want := range map[string]string{
		question:                          "block at line 1: no block above names the commit of \"kiln\"",
		head + question + "\n" + question: "name \"a\" is taken",
		head + head:                       "a new repository",
		head + "name: b\n":                "a question has",
		head + "answer: /b.go:3: x\n":     "write path:line: text",
		head + "answer: b.go:0: x\n":      "write path:line: text",
		head + "name: A b\n":              "use lower-case",
		head + "colour: red\n":            "unknown field",
		head + "name: a\nname: b\n":       "stands twice",
		head + "terms:\n":                 "has no value",
	} {
		if _, err := bench.ParseQuestions(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
