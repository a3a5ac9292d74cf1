package bench

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// web holds the page, its style and script, and Chart.js 4.6.1 as its authors
// publish it (dist/chart.umd.min.js of the npm package chart.js), under the MIT
// licence beside it. Chart.js was chosen because it is one file of 210 kB
// without further parts, has been maintained since 2013 with releases every few
// months, and draws bars, lines and marks on scales of factors. Apache ECharts
// does as well at five times the size.
//
//go:embed web
var web embed.FS

// page is what web/report.html shows.
type page struct {
	R                     *Report
	Corpus, Summary       string
	Skipped               string
	Programs, Peers       []string
	Goals                 []GoalFacts
	Figures               []figure
	Rows                  []pageRow
	Unread                []string
	Differences           []pageDifference
	Style                 template.CSS
	Library, Script, Data template.JS
	Licence               string
}

// pageRow is one query in the table of all.
type pageRow struct {
	Name, Text string
	// Cells are results, first and done.
	Cells  []string
	Peers  []pagePeer
	Missed string
}

type pagePeer struct{ Time, Same string }

// pageDifference is where one tool's answer to one query is another.
type pageDifference struct {
	Title  string
	Places []LinePosition
}

// WriteHTML writes r as one page that needs nothing else: no network, no other
// file.
func (r *Report) WriteHTML(w io.Writer) error {
	p, err := r.page()
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	t, err := template.New("report.html").Funcs(template.FuncMap{"bytes": showBytes}).ParseFS(web, "web/report.html")
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

func (r *Report) page() (*page, error) {
	p := &page{
		R: r, Corpus: filepath.Base(r.Corpus.Path), Summary: r.summary(), Skipped: showCounts(r.Corpus.Skipped),
		Peers: r.peerNames(), Goals: r.Goals(), Figures: r.figures(), Unread: r.unread(), Differences: r.differences(),
	}
	for _, program := range sortedKeys(r.Versions) {
		p.Programs = append(p.Programs, r.Versions[program])
	}
	for _, q := range r.Queries {
		p.Rows = append(p.Rows, q.pageRow())
	}
	charts := map[string]chart{}
	for _, f := range p.Figures {
		charts[f.ID] = f.Chart
	}
	// Marshal writes < as an escape, so that no text of ours ends the script.
	data, err := json.Marshal(charts)
	if err != nil {
		return nil, err
	}
	p.Data = template.JS(data)
	for name, to := range map[string]func(string){
		"report.css":       func(s string) { p.Style = template.CSS(s) },
		"report.js":        func(s string) { p.Script = template.JS(s) },
		"chart.umd.min.js": func(s string) { p.Library = template.JS(withoutSourceMap(s)) },
		"chart-LICENSE.md": func(s string) { p.Licence = s },
	} {
		text, err := web.ReadFile("web/" + name)
		if err != nil {
			return nil, err
		}
		to(string(text))
	}
	return p, nil
}

// withoutSourceMap drops the last line, which names a file that is not there.
func withoutSourceMap(script string) string {
	before, _, _ := strings.Cut(script, "\n//# sourceMappingURL=")
	return before
}

// summary says in a sentence or two how the run went.
func (r *Report) summary() string {
	s := fmt.Sprintf("%d queries, each asked %d times", len(r.Queries), r.runs())
	if names := r.peerNames(); len(names) > 0 {
		s += " in turn with " + strings.Join(names, ", ")
	}
	if len(r.Problems) == 0 {
		s += "; no answer of trawl's is wrong"
	} else {
		s += fmt.Sprintf("; %d problems, see below", len(r.Problems))
	}
	met := len(r.Checks) - countMissed(r.Checks)
	for _, q := range r.Queries {
		met += len(q.Checks) - countMissed(q.Checks)
	}
	return s + fmt.Sprintf(". %d targets met, %d missed.", met, r.Missed())
}

func (r *Report) runs() int {
	n := 0
	for _, q := range r.Queries {
		n = max(n, len(q.Runs))
	}
	return n
}

func (r *Report) unread() []string {
	var lines []string
	for _, t := range r.Tools {
		if t.UnreadText > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d files, %s", t.Name, t.UnreadText, showBytes(t.UnreadTextBytes)))
		}
	}
	return lines
}

func (r *Report) differences() []pageDifference {
	var all []pageDifference
	for _, q := range r.Queries {
		for _, p := range q.Peers {
			for title, places := range map[string][]LinePosition{"only " + p.Name: p.Difference.MissingAt, "only trawl, not " + p.Name: p.Difference.ExtraAt} {
				if len(places) > 0 {
					all = append(all, pageDifference{q.Name + ": " + title, places})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b pageDifference) int { return strings.Compare(a.Title, b.Title) })
	return all
}

func (q QueryFacts) pageRow() pageRow {
	row := pageRow{Name: q.Name, Text: q.Text, Cells: []string{fmt.Sprint(q.results()), orDash(q.First()), orDash(q.Done())}}
	for _, p := range q.Peers {
		cell := pagePeer{"–", p.Cannot}
		if p.Cannot == "" {
			cell = pagePeer{orDash(p.Done()), p.agreement(q.Part)}
		}
		row.Peers = append(row.Peers, cell)
	}
	var missed []string
	for _, c := range q.Checks {
		if !c.Passed {
			missed = append(missed, fmt.Sprintf("%s %s, limit %s", c.Name, c.Value, strings.TrimPrefix(c.Target, "<= ")))
		}
	}
	row.Missed = strings.Join(missed, "; ")
	return row
}
