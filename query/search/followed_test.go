package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// follow appends to text what an entry of skipped suggests, as clients do.
func follow(t testing.TB, text string, a attempt, reason string) string {
	t.Helper()
	for _, s := range a.progress.Skipped {
		if s.Reason != reason {
			continue
		}
		if s.SuggestedQuery == "" || !strings.Contains(s.Message, "`"+s.SuggestedQuery+"`") {
			t.Fatalf("%q: %s suggests %q: %s", text, reason, s.SuggestedQuery, s.Message)
		}
		return text + " " + s.SuggestedQuery
	}
	t.Fatalf("%q: nothing is skipped with the reason %s: %+v", text, reason, a.progress.Skipped)
	return ""
}

// TestSuggestionsAreFollowed: what an answer suggests may be appended to the
// query as it is, and then lifts what it was suggested for.
func TestSuggestionsAreFollowed(t *testing.T) {
	c := countCorpus(t)
	forks := newCorpus(t, 1000, map[string]store.Repository{"f": {Fork: true}, "a": {Archived: true}},
		[]doc{{repo: "f", path: "x", text: "ox\n"}, {repo: "a", path: "x", text: "ox\n"}, {repo: "r", path: "x", text: "ox\n"}})
	many := newCorpus(t, 1000, nil, []doc{{repo: "r", path: "x", text: strings.Repeat("a\n", match.MaxSpans+5)}})
	for _, tt := range []struct {
		c            *corpus
		text, reason string
		// more says that following finds more than before.
		more bool
	}{
		{c, "ox count:3", "shard-match-limit", true},
		{c, "count:3 ox or yak", "shard-match-limit", true},
		{c, "(ox count:3) or yak", "shard-match-limit", true},
		{c, "(ox) or (yak count:3)", "shard-match-limit", true},
		{c, "ox timeout:1ns", "shard-timeout", true},
		{c, "(ox timeout:1ns) or (yak timeout:1ns)", "shard-timeout", true},
		{forks, "ox", "repository-fork", true},
		{forks, "ox or yak", "excluded-archive", true},
		{many, "type:file a count:all", "document-match-limit", false},
	} {
		ask := func(text string) attempt {
			return tt.c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, text, nil)
		}
		before := ask(tt.text)
		text := follow(t, tt.text, before, tt.reason)
		after := ask(text)
		if strings.Contains(after.reasons(), tt.reason) {
			t.Errorf("%q, followed as %q, still has the reason %s", tt.text, text, tt.reason)
		}
		if got, was := total(after.matches), total(before.matches); tt.more && got <= was {
			t.Errorf("%q finds %d, and %q %d", tt.text, was, text, got)
		}
	}
}

// TestSelectedMatchesAreNotSelectedAgain: files are not suggested to a query that
// selects something.
func TestSelectedMatchesAreNotSelectedAgain(t *testing.T) {
	c := newCorpus(t, 1000, nil, []doc{{repo: "r", path: "x", text: strings.Repeat("a\n", match.MaxSpans+5)}})
	a := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, "type:file a count:all select:content", nil)
	if got := a.reasons(); got != "document-match-limit" {
		t.Errorf("reasons %q, want document-match-limit without a suggestion", got)
	}
}

// TestTimeoutIsSuggestedWithinTheLimit: a longer timeout is suggested as long as
// the server allows one.
func TestTimeoutIsSuggestedWithinTheLimit(t *testing.T) {
	for _, tt := range []struct {
		timeout, longest time.Duration
		want             string
	}{
		{time.Second, time.Minute, "timeout:2s"},
		{20 * time.Second, time.Minute, "timeout:40s"},
		{50 * time.Second, time.Minute, "timeout:1m0s"},
		{time.Minute, time.Minute, ""},
	} {
		r := report.New(time.Now)
		r.Skips().SetTimeout(tt.timeout, tt.longest)
		r.Skips().Add(report.TimedOut([]string{"a"}))
		s := r.Progress().Skipped[0]
		if s.SuggestedQuery != tt.want {
			t.Errorf("after %s of %s %q is suggested, want %q", tt.timeout, tt.longest, s.SuggestedQuery, tt.want)
		}
		if tt.want == "" && !strings.Contains(s.Message, fmt.Sprint(tt.longest)) {
			t.Errorf("the message does not name the limit: %s", s.Message)
		}
		if _, err := syntax.Parse("x timeout:1s "+s.SuggestedQuery, query.Keyword); err != nil {
			t.Error(err)
		}
	}
}
