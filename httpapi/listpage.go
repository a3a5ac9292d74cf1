package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/httpapi/web"
)

// listPath is where an answer is read without scripts.
const listPath = "/search/list"

const (
	// listHolds is the memory of a page of results: an event of the largest size,
	// what is decoded of it, and the page.
	listHolds = 24 << 20
	// listSize is how many results a page has, and listDeepest how many may stand
	// before it: each page searches anew.
	listSize    = 50
	listDeepest = 10_000
	// listLines is how many lines of a result are shown, and listRunes how many
	// characters of each, of which listLead stand before the first match.
	listLines = 5
	listRunes = 300
	listLead  = 60
)

// listData is the data of the page.
type listData struct {
	searchData
	From, To int
	Results  []listed
	Progress client.Progress
	Alert    *client.Alert
	Error    string
	// Earlier and Later are the addresses of the pages beside this one, "" for none.
	Earlier, Later string
	// Deep says that there is more, too far down to be listed.
	Deep bool
}

// First is the number of the first result, from one.
func (d listData) First() int { return d.From + 1 }

// listed is a result.
type listed struct {
	Repository, RepositoryURL, Rev string
	Title, URL, Kind               string
	Lines                          []listedLine
	// More counts the lines that are not shown.
	More int
}

// listedLine is a line of a result. Number is 0 where lines have none.
type listedLine struct {
	Number         int
	Parts          []listedPart
	Before, Behind bool
}

type listedPart struct {
	Text string
	Hit  bool
}

// serveList shows an answer page by page, without scripts. It is a stream whose
// events are kept, so all that holds for streams holds for it.
func (s searchRoutes) serveList(w http.ResponseWriter, r *http.Request) error {
	data := listData{searchData: s.searchData(r)}
	from, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("from"), "0"))
	if err != nil || from < 0 || from > listDeepest {
		return &Error{Status: http.StatusBadRequest, Message: "from must be a number of results up to " + strconv.Itoa(listDeepest)}
	}
	data.From = from
	p := stream.Params{Query: data.Sent(), Version: "V3", PatternType: data.PatternType, Display: -1}
	if data.Query == "" {
		http.Redirect(w, r, s.Path(searchPath), http.StatusSeeOther)
		return nil
	}
	release, err := s.admit(w, r)
	if err != nil {
		return err
	}
	defer release()
	work := WorkOf(r.Context())
	work.Rest() // the search has a slot of its own
	list := &lister{data: &data, skip: from, base: s.Path("")}
	s.stream.Run(w.Header(), r, p, list, &recordOf(r.Context()).search)
	if err := work.Resume(r.Context()); err != nil {
		return err
	}
	data.To = from + len(data.Results)
	data.pages(r.URL.Query(), list.more)
	return s.ServePage(w, r, pages, web.View{Page: "list.html", Here: searchPath, Compress: true, Reflected: true, Styles: []string{"search.css"}, Data: data})
}

// pages sets the addresses of the pages beside this one.
func (d *listData) pages(asked url.Values, more bool) {
	address := func(from int) string {
		asked.Set("from", strconv.Itoa(from))
		return listPath + "?" + asked.Encode()
	}
	if d.From > 0 {
		d.Earlier = address(max(0, d.From-listSize))
	}
	switch {
	case more && d.From+listSize <= listDeepest:
		d.Later = address(d.From + listSize)
	case more:
		d.Deep = true
	}
}

// lister keeps the results of a page out of the events of a stream.
type lister struct {
	data *listData
	base string
	// skip is how many results still stand before the page; more says that some
	// stand behind it.
	skip int
	more bool
	// last is the file of the last match, "" if it was no file. What is too large for an
	// event comes as several matches of one file, which are one result.
	last string
}

// Flush and End implement event.Output.
func (l *lister) Flush() error { return nil }
func (l *lister) End() error   { return nil }

// Send keeps what is of the page.
func (l *lister) Send(text []byte) error {
	name, data := event.Split(text)
	switch name {
	case "matches":
		if l.more {
			return nil // they are counted only
		}
		return l.matches(data)
	case "progress":
		l.data.Progress = client.Progress{}
		return json.Unmarshal(data, &l.data.Progress)
	case "alert":
		return json.Unmarshal(data, &l.data.Alert)
	case "error":
		var e event.Failure
		err := json.Unmarshal(data, &e)
		l.data.Error = e.Message
		return err
	}
	return nil
}

func (l *lister) matches(data []byte) error {
	var all []client.Match
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, m := range all {
		file := fileOf(m)
		same := file != "" && file == l.last
		l.last = file
		switch n := len(l.data.Results); {
		case same && n > 0:
			l.data.Results[n-1].addMatch(m)
		case same: // of a result before the page
		case l.skip > 0:
			l.skip--
		case n == listSize:
			l.more = true
			return nil
		default:
			l.data.Results = append(l.data.Results, l.listed(m))
		}
	}
	return nil
}

// fileOf names the file that has the match, "" if none has.
func fileOf(m client.Match) string {
	switch m.Type {
	case "content", "symbol", "path":
		return strings.Join(append([]string{m.Type, m.Repository, m.Path}, m.Branches...), "\x00")
	}
	return ""
}

func (l *lister) listed(m client.Match) listed {
	out := listed{Kind: m.Type, Repository: m.Repository, RepositoryURL: l.address("/" + m.Repository)}
	if len(m.Branches) > 0 && m.Branches[0] != "" {
		out.Rev = m.Branches[0]
		out.RepositoryURL = l.address("/" + m.Repository + "@" + out.Rev)
	}
	switch m.Type {
	case "repo":
		out.Title, out.URL, out.Repository = m.Repository, out.RepositoryURL, ""
		out.add(0, m.Description, nil)
	case "commit":
		subject, _, _ := strings.Cut(m.Message, "\n")
		out.Title = cmp.Or(strings.TrimSpace(subject), m.OID) + " - " + m.AuthorName + ", " + m.AuthorDate.UTC().Format("2 Jan 2006")
		out.URL = l.base + m.URL
		out.commit(m)
	case "person", "team":
		out.Title = cmp.Or(m.Handle, m.Email, "unknown")
	default:
		l.file(&out, m)
	}
	return out
}

func (l *lister) address(path string) string {
	return l.base + (&url.URL{Path: path}).EscapedPath()
}

func (l *lister) file(out *listed, m client.Match) {
	out.Title = m.Path
	where := strings.TrimPrefix(out.RepositoryURL, l.base)
	if place, folder := strings.CutSuffix(m.Path, "/"); folder {
		out.URL = l.base + where + "/-/tree/" + (&url.URL{Path: "/" + place}).EscapedPath()[1:]
	} else {
		out.URL = l.base + where + "/-/blob/" + (&url.URL{Path: "/" + m.Path}).EscapedPath()[1:]
	}
	out.addMatch(m)
}

// addMatch adds the lines and the symbols of a match in a file.
func (l *listed) addMatch(m client.Match) {
	for _, line := range m.LineMatches {
		l.add(line.LineNumber+1, line.Line, line.OffsetAndLengths)
	}
	for _, symbol := range m.Symbols {
		l.add(symbol.Line, strings.ToLower(symbol.Kind)+" "+symbol.Name, nil)
	}
}

// commit adds the message or the diff without the fence around it.
func (l *listed) commit(m client.Match) {
	fence, rest, _ := strings.Cut(m.Content, "\n")
	if !strings.HasPrefix(fence, "```") {
		return
	}
	for _, line := range strings.Split(strings.TrimRight(strings.TrimSuffix(strings.TrimRight(rest, "\n"), "```"), "\n"), "\n") {
		l.add(0, line, nil)
	}
}

// add adds a line whose hits are columns and lengths in characters, in order.
func (l *listed) add(number int, text string, hits [][2]int) {
	if text == "" && len(hits) == 0 {
		return
	}
	if len(l.Lines) == listLines {
		l.More++
		return
	}
	chars := []rune(text)
	from := 0
	if len(chars) > listRunes && len(hits) > 0 {
		from = max(0, min(hits[0][0]-listLead, len(chars)-listRunes))
	}
	to := min(len(chars), from+listRunes)
	line := listedLine{Number: number, Before: from > 0, Behind: to < len(chars)}
	at := from
	part := func(until int, hit bool) {
		if until = min(until, to); until > at {
			line.Parts = append(line.Parts, listedPart{string(chars[at:until]), hit})
			at = until
		}
	}
	for _, hit := range hits {
		part(hit[0], false)
		part(hit[0]+hit[1], true)
	}
	part(to, false)
	l.Lines = append(l.Lines, line)
}
