package groups_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/groups"
	"github.com/trawlsearch/trawl/query/syntax"
)

var kiln, glaze = &query.Repository{ID: 1, Name: "kiln"}, &query.Repository{ID: 2, Name: "glaze"}

func spans(offsets ...int) (out []query.Range) {
	for i := 0; i < len(offsets); i += 2 {
		out = append(out, query.Range{Start: query.Location{Offset: uint32(offsets[i])}, End: query.Location{Offset: uint32(offsets[i+1])}})
	}
	return out
}

func file(repo *query.Repository, path, text string, offsets ...int) *query.FileMatch {
	m := &query.FileMatch{Repo: repo, Path: path}
	if text != "" {
		m.Chunks = []query.Chunk{{Content: []byte(text), Start: query.Location{Offset: 100}, Ranges: spans(offsets...)}}
		for i := range m.Chunks[0].Ranges {
			m.Chunks[0].Ranges[i].Start.Offset += 100
			m.Chunks[0].Ranges[i].End.Offset += 100
		}
	}
	return m
}

func TestCounts(t *testing.T) {
	commit := &query.CommitMatch{Repo: kiln, Author: query.Signature{Name: "Ada"}, Body: "v2 and v3", Ranges: spans(0, 2, 7, 9)}
	matches := []query.Match{
		file(kiln, "a.go", "v1 V1 v22\n", 0, 2, 3, 5, 6, 9), file(glaze, "a.go", "v1\n", 0, 2), file(glaze, "v9.go", ""), commit,
	}
	for _, c := range []struct {
		by            groups.By
		text          string
		want          []groups.Group
		groups        int
		rest, without int
	}{
		{groups.Repository, "v", []groups.Group{{"kiln", "", 5}, {"glaze", "", 2}}, 2, 0, 0},
		{groups.File, "v", []groups.Group{{"a.go", "kiln", 3}, {"a.go", "glaze", 1}}, 3, 1, 2},
		{groups.Author, "v", []groups.Group{{"Ada", "", 2}}, 1, 0, 5},
		{groups.Capture, `/v(\d+)/`, []groups.Group{{"1", "", 3}, {"2", "", 1}}, 4, 2, 1},
		// what stands around a result counts: \b holds only at the ends of words
		{groups.Capture, `/\bv(\d)\b/`, []groups.Group{{"1", "", 3}, {"2", "", 1}}, 3, 1, 2},
		{groups.Capture, `/v(?:(1)|(2+))/`, []groups.Group{{"1", "", 3}, {"2", "", 1}}, 3, 1, 2},
		{groups.Capture, `x and not /(v)/ or /v(1)/`, []groups.Group{{"1", "", 3}}, 1, 0, 4},
	} {
		q, err := syntax.Parse(c.text, query.Keyword)
		if err != nil {
			t.Fatal(err)
		}
		counter, err := groups.New(c.by, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			counter.Add(m)
		}
		got, n, rest, without, all := counter.Counts(2)
		if !reflect.DeepEqual(got, c.want) || n != c.groups || rest != c.rest || without != c.without || !all {
			t.Errorf("%s of %s: %v of %d, rest %d, without %d\nwant %v of %d, %d, %d", c.by, c.text, got, n, rest, without, c.want, c.groups, c.rest, c.without)
		}
	}
}

func TestNoCapture(t *testing.T) {
	for text, want := range map[string]error{"v": groups.ErrNoCapture, `/v\d/`: groups.ErrNoCapture, `/a(b)/ /c(d)/`: groups.ErrNoCapture, `/a(b)/ /c/ d`: nil, `/a(b)/ or (/a(b)/ x)`: nil, "not /a(b)/": groups.ErrNoCapture, "repo:x": groups.ErrNoCapture} {
		q, err := syntax.Parse(text, query.Keyword)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := groups.New(groups.Capture, q); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// However many groups there are, memory is bounded and every result is counted.
func TestManyGroups(t *testing.T) {
	counter, err := groups.New(groups.File, &query.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		counter.Add(file(kiln, fmt.Sprintf("%d%s", i, strings.Repeat("é", 1000)), ""))
	}
	got, n, rest, _, all := counter.Counts(10)
	if len(got) != 10 || n != 10_000 || rest != 19_990 || all || len(got[0].Value) > 410 || !strings.HasSuffix(got[0].Value, "é…") {
		t.Errorf("%d groups of %d, rest %d, all %t: %q", len(got), n, rest, all, got[0].Value)
	}
}
