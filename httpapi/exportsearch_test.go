package httpapi_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
)

// limited says that a limit was met.
func limited(o search.Options, _ answer.Sink) {
	o.Report.Skips().Add(report.NewSkip(query.Skipped{Reason: "document-match-limit", Title: "limit hit", Message: "more, \"much\"", Severity: "info"}))
	o.Report.Finish(false)
}

func TestExport(t *testing.T) {
	all := append([]query.Match{glazeContent(), glazePath(), glazeRepo()}, glazeCommits()...)
	whole := script(search.Outcome{}, after(0, found(all...)), after(0, finish(true)))
	failing := script(search.Outcome{Err: errors.New("secret detail")}, after(0, found(glazePath())))
	for _, c := range []struct {
		name, target string
		do           searcher
		status       int
		// want are lines of the answer, each with what must be in it.
		want []string
	}{
		{"lines", "?format=jsonl&q=x", whole, 200, []string{`{"type":"content"`, `{"type":"path"`, `{"type":"repo"`, `{"type":"commit"`, `{"type":"commit"`, `{"type":"end","progress":{"done":true`}},
		{"a table", "?format=csv&q=x", whole, 200, []string{"type,repository,", "content,", "content,", "content,", "path,", "repo,", "commit,", "commit,"}},
		{"nothing found", "?format=csv&q=x", nothing, 200, []string{"type,repository,"}},
		{"nothing found, in lines", "?format=jsonl&q=x", nothing, 200, []string{`{"type":"end","progress":{"done":true`}},
		{"a limit", "?format=csv&q=x", script(search.Outcome{}, after(0, limited)), 200, []string{"type,repository,", `skipped,,,,,,,,,,,"limit hit: more, ""much"""`}},
		{"a limit, in lines", "?format=jsonl&q=x", script(search.Outcome{}, after(0, limited)), 200, []string{`"skipped":[{"reason":"document-match-limit"`}},
		// an internal error is told as streams tell it, and never in detail
		{"an error behind a result", "?format=csv&q=x", failing, 200, []string{"type,repository,", "path,", "skipped,,,,,,,,,,,search failed: "}},
		{"an error behind nothing", "?format=csv&q=x", script(search.Outcome{Err: errors.New("secret detail")}), 500, []string{""}},
		{"a bad query", "?format=csv&q=count:none", nothing, 400, []string{"Unable To Process Query: Field count has value none"}},
		{"a bad type of pattern", "?format=csv&q=x&t=bad", nothing, 400, []string{`unrecognized patternType "bad"`}},
		{"no query", "?format=csv", nothing, 400, []string{"no query found"}},
		{"no format", "?q=x", nothing, 400, []string{"format must be csv or jsonl"}},
		{"another format", "?format=xml&q=x", nothing, 400, []string{"format must be csv or jsonl"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp := serve(newServer(c.do), "GET", "/.api/search/export"+c.target)
			body := bodyOf(t, resp)
			lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
			if resp.StatusCode != c.status || len(lines) != len(c.want) || strings.Contains(body, "secret") {
				t.Fatalf("status %d, want %d, with %d lines, want %d:\n%s", resp.StatusCode, c.status, len(lines), len(c.want), body)
			}
			for i, want := range c.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("line %d is %q, want %q in it", i, lines[i], want)
				}
			}
			name := ""
			if c.status == 200 {
				name = fmt.Sprintf("attachment; filename=%q", "search."+strings.Split(c.target, "=")[1][:strings.IndexByte(strings.Split(c.target, "=")[1], '&')])
			}
			if got := resp.Header.Get("Content-Disposition"); got != name {
				t.Errorf("disposition %q, want %q", got, name)
			}
		})
	}
}

// The lines of an export are the matches of the stream, byte by byte, however many
// there are.
func TestExportIsTheStream(t *testing.T) {
	do := func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		for range 300 {
			found(glazeContent(), glazePath())(o, sink)
			found(glazeCommits()...)(o, sink)
		}
		o.Report.Finish(true)
		return search.Outcome{}
	}
	var want []string
	for _, line := range strings.Split(bodyOf(t, serve(newServer(do), "GET", "/.api/search/stream?cm=t&cl=0&q=x")), "\n") {
		if data, ok := strings.CutPrefix(line, "data: ["); ok && strings.HasPrefix(data, `{"type"`) {
			var matches []json.RawMessage
			if err := json.Unmarshal([]byte("["+data), &matches); err != nil {
				t.Fatal(err)
			}
			for _, m := range matches {
				want = append(want, string(m))
			}
		}
	}
	got := bufio.NewScanner(strings.NewReader(bodyOf(t, serve(newServer(do), "GET", "/.api/search/export?format=jsonl&q=x"))))
	for i := range want {
		if !got.Scan() || got.Text() != want[i] {
			t.Fatalf("line %d is %q, want %q", i, got.Text(), want[i])
		}
	}
	if len(want) != 1200 || !got.Scan() || !strings.HasPrefix(got.Text(), `{"type":"end"`) || got.Scan() {
		t.Errorf("%d matches, and at the end %q", len(want), got.Text())
	}
	resp := serve(newServer(do), "GET", "/.api/search/export?format=csv&q=x")
	if got := resp.Header.Get("Content-Type"); got != "text/csv; charset=utf-8; header=present" {
		t.Errorf("a table is %q", got)
	}
	if rows, err := csv.NewReader(resp.Body).ReadAll(); err != nil || len(rows) != 1+300*6 {
		t.Errorf("a table of %d rows, want %d: %v", len(rows), 1+300*6, err)
	}
}

// An export is divided among clients as streams are, and ends with the client.
func TestExportEndsWithItsClient(t *testing.T) {
	ended := make(chan error, 1)
	s := newServer(func(ctx context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		for ctx.Err() == nil {
			if err := sink.Send([]query.Match{glazeContent()}); err != nil {
				ended <- err
				return search.Outcome{Err: err}
			}
		}
		ended <- ctx.Err()
		return search.Outcome{Err: ctx.Err()}
	})
	open(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL()+"/.api/search/export?format=csv&q=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := newClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the search went on")
	}
}
