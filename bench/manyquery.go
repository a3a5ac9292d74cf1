package bench

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// question is a query with its right number of matches, in the words of both; zoekt is ""
// where zoekt is not asked.
type question struct {
	name, text, zoekt string
	want              int
	// limit is the most matches wanted, 0 for all of them.
	limit int
	// lacks says that some repositories have not the revision, which an alert tells.
	lacks bool
	// often says that answers are so small that a few of them are over within one moment of
	// what else the server does.
	often bool
}

// oftenRuns is how many times as often such a question is asked.
const oftenRuns = 7

// runsOf is how often a question is timed.
func (m *manyRun) runsOf(q question) int {
	if q.often {
		return m.Runs * oftenRuns
	}
	return m.Runs
}

// The names of the questions.
const (
	absentQuestion  = "absent word"
	rareQuestion    = "word of one repository"
	repoQuestion    = "repo: of one and a word of all"
	everyQuestion   = "word of all, every match"
	defaultQuestion = "word of all, default limit"
	branchQuestion  = "word of all, every match at main"
	noneQuestion    = "revision that none has"
)

// defaultLimit is how many matches trawl looks for unless told otherwise.
const defaultLimit = 10_000

// questions returns what is asked.
func (m *manyRun) questions() []question {
	one := m.fleet.repository(m.fleet.forked(m.Repositories / 2))
	all := m.Repositories - m.report.Fleet.Empty
	literal := func(word string) string { return "case:no content:" + zoektQuote(word) }
	name := "^" + regexp.QuoteMeta(one.name) + "$"
	return []question{
		{name: absentQuestion, text: absentWord, zoekt: literal(absentWord), often: true},
		{name: rareQuestion, text: uniqueWord(one.number), zoekt: literal(uniqueWord(one.number)), want: 1, often: true},
		{
			name: repoQuestion, text: "repo:" + name + " " + everyRepositoryWord,
			zoekt: "repo:" + zoektQuote(name) + " " + literal(everyRepositoryWord), want: 1, often: true,
		},
		{name: everyQuestion, text: "count:all " + everyRepositoryWord, zoekt: literal(everyRepositoryWord), want: all},
		{name: defaultQuestion, text: everyRepositoryWord, zoekt: literal(everyRepositoryWord), want: min(all, defaultLimit), limit: defaultLimit},
		{name: branchQuestion, text: "repo:. rev:main count:all " + everyRepositoryWord, want: all, lacks: m.report.Fleet.Empty > 0},
		{name: noneQuestion, text: "repo:. rev:" + absentWord + " " + everyRepositoryWord, lacks: true},
	}
}

// queries asks the server at once and when it is idle, and then zoekt.
func (m *manyRun) queries(ctx context.Context, s *manyServer) (err error) {
	m.Note("asking at once")
	ask := func(runs func(*ManyQuery) *[]PeerRun) error {
		for i, q := range m.questions() {
			if err := m.ask(ctx, s, q, runs(&m.report.Queries[i])); err != nil {
				return err
			}
		}
		return nil
	}
	for _, q := range m.questions() {
		m.report.Queries = append(m.report.Queries, ManyQuery{Name: q.name, Text: q.text, Matches: q.want})
	}
	if err := ask(func(q *ManyQuery) *[]PeerRun { return &q.AtOnce }); err != nil {
		return err
	}
	m.Note("waiting until the server is idle")
	if m.report.Bulk.Busy, err = m.awaitIdle(ctx, s.process); err != nil {
		return err
	}
	m.Note("asking again")
	if err := ask(func(q *ManyQuery) *[]PeerRun { return &q.Later }); err != nil {
		return err
	}
	if err := m.shardsNow(ctx, s); err != nil {
		return err
	}
	m.report.Bulk.addPeaks(s.process.memory())
	if !m.hasPeer() {
		return nil
	}
	return m.queryPeer(ctx)
}

// shardsNow notes how many shards the server has in the end.
func (m *manyRun) shardsNow(ctx context.Context, s *manyServer) error {
	values, err := scrape(ctx, &s.operator.client, s.metrics)
	m.report.Bulk.Shards = int(values["trawl_index_shards"])
	return err
}

// ask times a question after a first time that is not counted.
func (m *manyRun) ask(ctx context.Context, s *manyServer, q question, runs *[]PeerRun) error {
	for run := range m.runsOf(q) + 1 {
		a, err := s.answer(ctx, q)
		if err != nil {
			return err
		}
		if a.Results != q.want || len(a.Incomplete) > 0 && q.limit == 0 {
			m.problem("%s: %d matches, want %d; incomplete: %q", q.text, a.Results, q.want, a.Incomplete)
			return nil
		}
		if run > 0 {
			*runs = append(*runs, PeerRun{First: a.First, Done: a.Done})
		}
	}
	return nil
}

// lackingTitle is that of the alert about repositories without a revision.
const lackingTitle = "Some repositories could not be searched"

// answer asks a question. That an alert is there or not as the question says is part of
// the right answer.
func (s *manyServer) answer(ctx context.Context, q question) (Answer, error) {
	a, err := s.search(ctx, q.text, "keyword", nil)
	var alert *alertError
	switch {
	case !q.lacks:
		return a, err
	case errors.As(err, &alert) && alert.title == lackingTitle:
		return a, nil
	case err == nil:
		err = fmt.Errorf("%s: no alert tells which repositories have not the revision", q.text)
	}
	return a, err
}

// queryPeer asks zoekt the same.
func (m *manyRun) queryPeer(ctx context.Context) (err error) {
	m.Note("asking zoekt")
	e, err := startZoekt(ctx, m.zoektDir())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.stop()) }()
	m.report.ZoektReady = e.ready
	for i, q := range m.questions() {
		if q.zoekt == "" {
			continue
		}
		runs, err := m.askZoekt(ctx, e, q)
		if err != nil {
			return err
		}
		m.report.Queries[i].Zoekt = runs
	}
	m.report.ZoektServes = e.memory().single
	return nil
}

// askZoekt compares zoekt's number of matches and times it.
func (m *manyRun) askZoekt(ctx context.Context, e *zoektEngine, q question) ([]PeerRun, error) {
	resp, err := e.sendText(ctx, q.name, q.zoekt, q.limit)
	if err != nil {
		return nil, err
	}
	reply, err := readZoekt(q.name, resp)
	if err != nil {
		return nil, err
	}
	got := 0
	for _, f := range reply.Result.Files {
		got += len(f.LineMatches)
	}
	if got != q.want {
		m.problem("zoekt, %s: %d matches, want %d", q.zoekt, got, q.want)
		return nil, nil
	}
	var runs []PeerRun
	for range m.runsOf(q) {
		start := time.Now()
		resp, err := e.sendText(ctx, q.name, q.zoekt, q.limit)
		if err != nil {
			return nil, err
		}
		run, err := skimZoekt(resp, start)
		if err != nil {
			return nil, fmt.Errorf("zoekt: %s: %w", q.name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}
