package metrics_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/trawlsearch/trawl/cmd/trawl/metrics"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store/identity"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

func newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Build{Version: "v1", Revision: "abc", Go: "go1"}, func(context.Context) (admin.Status, error) {
		var s admin.Status
		s.Ready, s.Disk.Free, s.Repositories.OldestSeconds, s.Started = true, 123, 45.5, time.Unix(1700000000, 0)
		s.Cluster = &admin.StatusCluster{
			Node: "a", Head: 9, Applied: 7, Confirmed: time.Now(),
			Nodes: []admin.StatusNode{{ID: "a", Live: true, Parts: 30}, {ID: "b"}, {ID: "c", Live: true}},
		}
		return s, nil
	})
}

// used has everything counted at least once.
func used() *metrics.Metrics {
	m := newMetrics()
	m.Begin(httptest.NewRequest("GET", "/", nil))
	m.Answered(context.Background(), httpapi.Answered{Method: "GET", Route: "/{repo}", Status: 200, Took: time.Millisecond, Outcome: "done"})
	m.Searched(context.Background(), service.Searched{
		Kind: service.KindFile, Outcome: service.SearchLimited, Took: time.Second, First: time.Millisecond, Matches: 3, Skipped: []string{"shard-match-limit"},
	})
	m.Worked(service.WorkSync, service.WorkChanged, time.Minute)
	m.SignedIn(identity.SignInWrong)
	return m
}

func page(t testing.TB, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics: %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestLint(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(page(t, used()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "trawl_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestValues(t *testing.T) {
	got := page(t, used())
	for _, want := range []string{
		`trawl_build_info{goversion="go1",revision="abc",version="v1"} 1`,
		`trawl_http_requests_total{method="GET",route="/{repo}",status="2xx"} 1`,
		`trawl_http_requests_in_flight 0`,
		`trawl_streams_total{outcome="done"} 1`,
		`trawl_searches_total{kind="file",outcome="limited"} 1`,
		`trawl_search_duration_seconds_bucket{kind="file",le="1"} 1`,
		`trawl_search_first_match_seconds_count{kind="file"} 1`,
		`trawl_search_matches_total 3`,
		`trawl_search_skipped_total{reason="shard-match-limit"} 1`,
		`trawl_work_total{outcome="changed",work="sync"} 1`,
		`trawl_sign_ins_total{outcome="wrong"} 1`,
		`trawl_ready 1`,
		`trawl_disk_free_bytes 123`,
		`trawl_sync_lag_seconds 45.5`,
		// what has not happened yet is there, so that the first of it is an increase
		`trawl_work_total{outcome="failed",work="sync"} 0`,
		`trawl_sign_ins_total{outcome="locks"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("GET /metrics: no line %q", want)
		}
	}
}

// Whatever is asked of the server, the number of series stays what it is.
func TestBounded(t *testing.T) {
	m := used()
	server := &httpapi.Server{Searcher: failing{}, Observer: m}
	handler := server.Handler()
	ask := func(i int) {
		for _, c := range []struct{ method, path string }{
			{"GET", fmt.Sprintf("/no/such/%d", i)},
			{"GET", fmt.Sprintf("/.api/search/stream?q=repo:r%d+word%d+type:t%d&v=V%d", i, i, i, i)},
			{"GET", fmt.Sprintf("/.api/search/stream?q=word%d", i)},
			{fmt.Sprintf("M%d", i), fmt.Sprintf("/search?q=%d", i)},
			{"GET", fmt.Sprintf("/-/trace/%032x", i)},
			{"OPTIONS", fmt.Sprintf("/.api/x%d", i)},
		} {
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, c.path, nil))
		}
		m.Searched(context.Background(), service.Searched{Kind: service.KindFile, Outcome: service.SearchFailed, Skipped: []string{fmt.Sprint("reason-", i)}})
	}
	ask(0)
	before := len(series(page(t, m)))
	for i := range 200 {
		ask(i + 1)
	}
	all := series(page(t, m))
	if len(all) != before {
		t.Errorf("after 200 hostile rounds: %d series, want the %d of one", len(all), before)
	}
	for _, s := range all {
		if strings.Contains(s, "word1") || strings.Contains(s, "r17") {
			t.Errorf("a series tells what was asked: %s", s)
		}
	}
}

type failing struct{}

func (failing) Search(context.Context, *query.Query, search.Options, answer.Sink) search.Outcome {
	return search.Outcome{Err: errors.New("broken")}
}

// series are the names and labels of a page, without what differs from one page to
// the next.
func series(page string) (out []string) {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "trawl_") {
			name, _, _ := strings.Cut(line, "} ")
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out
}

// Each reason that the program gives for leaving something out has a label.
func TestReasons(t *testing.T) {
	given := regexp.MustCompile(`(?:Reason: +|Reason\w+ += )"([a-z-]+)"`)
	m, seen := newMetrics(), 0
	for _, pattern := range []string{"../../../query/search/report/reasons.go", "../../../httpapi/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range given.FindAllStringSubmatch(string(text), -1) {
				seen++
				m.Searched(context.Background(), service.Searched{Kind: service.KindFile, Outcome: service.SearchIncomplete, Skipped: found[1:]})
				if !strings.Contains(page(t, m), `reason="`+found[1]+`"`) {
					t.Errorf("%s: reason %q is in no label: add it to reasons.go", f, found[1])
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d reasons: the expression does not fit the code any more", seen)
	}
}

// A status that cannot be had leaves out what is read off it, and nothing else.
func TestStatusFails(t *testing.T) {
	m := metrics.New(metrics.Build{}, func(context.Context) (admin.Status, error) {
		return admin.Status{}, errors.New("no disk")
	})
	got := page(t, m)
	if strings.Contains(got, "\ntrawl_disk_free_bytes") || !strings.Contains(got, "\ntrawl_http_requests_in_flight 0") {
		t.Errorf("got:\n%s", got)
	}
}

const documented = "../../../docs/metrics.md"

// The table of the documentation has all metrics, and only those.
func TestDocumented(t *testing.T) {
	want := table(page(t, used()))
	text, err := os.ReadFile(documented)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- metrics -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatalf("%s: the marks around the table are missing", documented)
	}
	if *update {
		if err := os.WriteFile(documented, []byte(head+"<!-- metrics -->\n"+want+"<!-- end -->"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := strings.TrimSuffix(rest, "<!-- end -->"+tail); got != want {
		t.Errorf("%s is not up to date; rewrite it with: go test ./cmd/trawl/metrics -run TestDocumented -update\ngot:\n%s\nwant:\n%s", documented, got, want)
	}
}

var (
	helpLine  = regexp.MustCompile(`(?m)^# HELP (trawl_\S+) (.*)\n# TYPE \S+ (\S+)\n(.*)`)
	labelName = regexp.MustCompile(`([a-z]+)="`)
)

// table lists the metrics of a page as they stand in the documentation.
func table(page string) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | what it tells |\n|---|---|---|---|\n")
	for _, m := range helpLine.FindAllStringSubmatch(page, -1) {
		var labels []string
		for _, l := range labelName.FindAllStringSubmatch(m[4], -1) {
			if l[1] != "le" {
				labels = append(labels, "`"+l[1]+"`")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m[1], m[3], strings.Join(labels, ", "), m[2])
	}
	return b.String()
}

// Alerts ask for metrics that there are.
func TestAlerts(t *testing.T) {
	rules, err := os.ReadFile("../../../docs/deploy/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(page(t, used()), -1) {
		names = append(names, m[1])
	}
	asked := regexp.MustCompile(`\b(?:trawl|go|process)_[a-z_]+`).FindAllString(string(rules), -1)
	if len(asked) < 10 {
		t.Errorf("docs/deploy/alerts.yml asks for %d metrics", len(asked))
	}
	for _, a := range asked {
		base := a
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			base = strings.TrimSuffix(base, suffix)
		}
		if !slices.Contains(names, a) && !slices.Contains(names, base) {
			t.Errorf("docs/deploy/alerts.yml: there is no metric %s", a)
		}
	}
}

// BenchmarkAnswered is what a request and a search cost more than without metrics.
func BenchmarkAnswered(b *testing.B) {
	m := newMetrics()
	r := httptest.NewRequest("GET", "/", nil)
	b.ReportAllocs()
	for b.Loop() {
		ctx := m.Begin(r)
		m.Searched(ctx, service.Searched{Kind: service.KindFile, Outcome: service.SearchComplete, Took: time.Millisecond, First: time.Millisecond, Matches: 3})
		m.Answered(ctx, httpapi.Answered{Method: "GET", Route: "/.api/search/stream", Status: 200, Took: time.Millisecond, Outcome: "done"})
	}
}
