package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/store/identity"
)

// Build describes the running program.
type Build struct{ Version, Revision, Go string }

// Metrics counts. It implements httpapi.Observer and service.Observer, and is
// safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests       *prometheus.CounterVec
	requestSeconds *prometheus.HistogramVec
	inFlight       prometheus.Gauge
	streams        *prometheus.CounterVec

	searches               *prometheus.CounterVec
	searchSeconds          *prometheus.HistogramVec
	firstSeconds           *prometheus.HistogramVec
	waitSeconds            prometheus.Histogram
	matches                prometheus.Counter
	skipped                *prometheus.CounterVec
	work                   *prometheus.CounterVec
	workSeconds            *prometheus.HistogramVec
	pushSeconds            prometheus.Histogram
	signIns                *prometheus.CounterVec
	knownReasons           map[string]bool
	knownMethods, outcomes map[string]bool
}

// Searches take from a fraction of a millisecond to a minute, requests the same;
// work in the background takes from milliseconds to hours.
var (
	searchBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	requestBucket = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60}
	pushBuckets   = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	workBuckets   = []float64{.01, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 14400}
)

// New returns metrics of a server whose status is asked for at each page.
func New(b Build, status admin.StatusFunc) *Metrics {
	m := &Metrics{
		registry:     prometheus.NewRegistry(),
		knownReasons: set(reasons), knownMethods: set(methods), outcomes: set(stream.Outcomes()),
	}
	m.requests = m.counters("trawl_http_requests_total", "Requests that were answered, by the template of their route.", "route", "method", "status")
	m.requestSeconds = m.histograms("trawl_http_request_duration_seconds", "Time from the head of a request to the end of its answer.", requestBucket, "route")
	m.inFlight = m.gauge("trawl_http_requests_in_flight", "Requests that are being answered, open streams among them.")
	m.streams = m.counters("trawl_streams_total", "Streams of search results, by how they ended.", "outcome")
	m.searches = m.counters("trawl_searches_total", "Searches of streams and of GraphQL, by what they look for and how they ended.", "kind", "outcome")
	m.searchSeconds = m.histograms("trawl_search_duration_seconds", "Time of a search, waiting for its turn included.", searchBuckets, "kind")
	m.firstSeconds = m.histograms("trawl_search_first_match_seconds", "Time until a search found its first match, of those that found any.", searchBuckets, "kind")
	m.waitSeconds = m.histogram("trawl_search_wait_seconds", "Time that a search waited for others to end before it began.", searchBuckets)
	m.matches = m.counter("trawl_search_matches_total", "Matches that searches found.")
	m.skipped = m.counters("trawl_search_skipped_total", "Searches that left something out, by reason; one search may have several.", "reason")
	m.work = m.counters("trawl_work_total", "Steps of work in the background, by how they ended.", "work", "outcome")
	m.workSeconds = m.histograms("trawl_work_duration_seconds", "Time of a step of work in the background.", workBuckets, "work")
	m.pushSeconds = m.histogram("trawl_push_searchable_seconds", "Time from when a code host or a watched folder reports a push until it is searched.", pushBuckets)
	m.signIns = m.counters("trawl_sign_ins_total", "Attempts to sign in with a password or at another service, by how they ended.", "outcome")
	m.begin()
	m.registry.MustRegister(
		&statusCollector{status: status},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	info := m.gauges("trawl_build_info", "The program that runs; always 1.", "version", "revision", "goversion")
	info.WithLabelValues(b.Version, b.Revision, b.Go).Set(1)
	return m
}

// begin makes the series that alerts look at, so that the first of their kind is
// an increase.
func (m *Metrics) begin() {
	for _, k := range service.SearchKinds() {
		for _, o := range service.SearchOutcomes() {
			m.searches.WithLabelValues(string(k), string(o))
		}
	}
	for _, w := range service.Works() {
		for _, o := range service.WorkOutcomes() {
			m.work.WithLabelValues(string(w), string(o))
		}
	}
	for _, o := range identity.SignInOutcomes() {
		m.signIns.WithLabelValues(string(o))
	}
	for o := range m.outcomes {
		m.streams.WithLabelValues(o)
	}
}

// Handler answers with all metrics, in the format that is asked for. A number that
// could not be read leaves its metrics out, not the page.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

// methods are those with a label of their own; all others are "other".
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

const other = "other"

// classes are the labels of statuses.
var classes = [...]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}

// Begin implements httpapi.Observer.
func (m *Metrics) Begin(r *http.Request) context.Context {
	m.inFlight.Inc()
	return r.Context()
}

// Answered implements httpapi.Observer.
func (m *Metrics) Answered(_ context.Context, a httpapi.Answered) {
	m.inFlight.Dec()
	class := classes[0]
	if n := a.Status / 100; n > 0 && n < len(classes) {
		class = classes[n]
	}
	m.requests.WithLabelValues(a.Route, known(m.knownMethods, a.Method), class).Inc()
	m.requestSeconds.WithLabelValues(a.Route).Observe(a.Took.Seconds())
	if a.Outcome != "" {
		m.streams.WithLabelValues(known(m.outcomes, a.Outcome)).Inc()
	}
}

// Searched implements service.Observer.
func (m *Metrics) Searched(_ context.Context, s service.Searched) {
	kind := string(s.Kind)
	m.searches.WithLabelValues(kind, string(s.Outcome)).Inc()
	m.searchSeconds.WithLabelValues(kind).Observe(s.Took.Seconds())
	if s.First > 0 {
		m.firstSeconds.WithLabelValues(kind).Observe(s.First.Seconds())
	}
	m.waitSeconds.Observe(s.Waited.Seconds())
	m.matches.Add(float64(s.Matches))
	for _, reason := range s.Skipped {
		m.skipped.WithLabelValues(known(m.knownReasons, reason)).Inc()
	}
}

// Worked implements service.Observer.
func (m *Metrics) Worked(w service.Work, o service.WorkOutcome, took time.Duration) {
	m.work.WithLabelValues(string(w), string(o)).Inc()
	m.workSeconds.WithLabelValues(string(w)).Observe(took.Seconds())
}

// SignedIn implements service.Observer.
func (m *Metrics) SignedIn(o identity.SignInOutcome) { m.signIns.WithLabelValues(string(o)).Inc() }

func known(all map[string]bool, word string) string {
	if all[word] {
		return word
	}
	return other
}

func set(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[w] = true
	}
	return out
}

var (
	_ httpapi.Observer = (*Metrics)(nil)
	_ service.Observer = (*Metrics)(nil)
)

// Pushed implements service.Observer.
func (m *Metrics) Pushed(took time.Duration) { m.pushSeconds.Observe(took.Seconds()) }
