package bench

import (
	"fmt"
	"io"
	"time"
)

// PagesReport is what pages cost those who look at them.
type PagesReport struct {
	Home PageLoads `json:"home"`
	// FilePage is the path of the page of a file. File is what it took to open it from a
	// blank page with nothing in the cache, and Followed from the home page, as by a link.
	// Since pages must not share a process with those of other sites
	// (Cross-Origin-Opener-Policy), the first includes the start of a process, for which a
	// browser without a window has none in reserve.
	FilePage string    `json:"filePage"`
	File     PageLoads `json:"file"`
	Followed PageLoads `json:"followed"`
	// FirstResults are, in order of time, how long after the server had sent the first
	// result of FewQuery it was painted.
	FewQuery     string          `json:"fewQuery"`
	FirstResults []time.Duration `json:"firstResultsNanos"`
	// All is how long the whole answer to AllQuery took from opening the page, AllTold
	// what the page says of it, Results how many there are in its list.
	AllQuery string        `json:"allQuery"`
	All      time.Duration `json:"allNanos"`
	AllTold  string        `json:"allTold"`
	Results  int           `json:"results"`
	// Scrolled is how long it took to scroll through the list, LastReached whether
	// that led to the last result.
	Scrolled    time.Duration `json:"scrolledNanos"`
	LastReached bool          `json:"lastReached"`
	// LongTasks are the times of more than 50 ms, in order, in which the page did not
	// answer while the answer came and was scrolled through (Long Tasks API).
	LongTasks []time.Duration `json:"longTasksNanos"`
	// PageBytes is the most anonymous memory of the page's process, 0 where that cannot
	// be read; HeapBytes what its scripts hold at the end.
	PageBytes int64 `json:"pageBytes"`
	HeapBytes int64 `json:"heapBytes"`
}

// PageLoad is what it took to open a page.
type PageLoad struct {
	// Transferred is how many bytes came over the wire, with their headers.
	Transferred int64
	// First is when something of the page was painted, Whole when all of it was, from
	// the moment it was asked for; Answered when its last byte had come.
	First, Whole, Answered time.Duration
}

// PageLoads are those of one page.
type PageLoads struct {
	// Transferred is the most, the times are medians.
	Transferred int64         `json:"transferred"`
	First       time.Duration `json:"firstNanos"`
	Whole       time.Duration `json:"wholeNanos"`
	Answered    time.Duration `json:"answeredNanos"`

	all []PageLoad
}

func (l *PageLoads) add(one PageLoad) {
	l.all = append(l.all, one)
	l.Transferred = max(l.Transferred, one.Transferred)
	l.First = median(l.all, func(p PageLoad) time.Duration { return p.First })
	l.Whole = median(l.all, func(p PageLoad) time.Duration { return p.Whole })
	l.Answered = median(l.all, func(p PageLoad) time.Duration { return p.Answered })
}

// The limits of pages.
const (
	mostHome        = 150_000
	mostFile        = 200_000
	mostPaint       = 500 * time.Millisecond
	mostFirstResult = 150 * time.Millisecond
	mostTask        = 50 * time.Millisecond
	mostPageBytes   = 200 << 20
)

// Wrong lists what is not as it should be.
func (r *PagesReport) Wrong() []string {
	var wrong []string
	demand := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	demand(r.Home.Transferred <= mostHome, "the home page takes %d bytes, want at most %d", r.Home.Transferred, mostHome)
	demand(r.File.Transferred <= mostFile, "the page of a file takes %d bytes, want at most %d", r.File.Transferred, mostFile)
	demand(r.Followed.Whole <= mostPaint, "the page of a file is painted %s after a link to it was followed, want at most %s", milliseconds(r.Followed.Whole), mostPaint)
	if n := len(r.FirstResults); n > 0 {
		demand(r.FirstResults[n/2] <= mostFirstResult, "the first result is painted %s after it was sent, want at most %s", milliseconds(r.FirstResults[n/2]), mostFirstResult)
	}
	if n := len(r.LongTasks); n > 0 {
		demand(r.LongTasks[n-1] <= mostTask, "the page does not answer for %s, want at most %s", milliseconds(r.LongTasks[n-1]), mostTask)
	}
	demand(r.PageBytes <= mostPageBytes, "the page takes %d MiB, want at most %d", r.PageBytes>>20, mostPageBytes>>20)
	demand(r.LastReached, "the last of %d results is not reached", r.Results)
	return wrong
}

// Write prints the report for people.
func (r *PagesReport) Write(w io.Writer) error {
	load := func(name string, l PageLoads) string {
		return fmt.Sprintf("%-14s %7.1f KB   answered %s   first paint %s   whole %s\n", name, float64(l.Transferred)/1000,
			milliseconds(l.Answered), milliseconds(l.First), milliseconds(l.Whole))
	}
	first, longest := "none", "none"
	if n := len(r.FirstResults); n > 0 {
		first = fmt.Sprintf("%s after it was sent; most %s, %d times", milliseconds(r.FirstResults[n/2]), milliseconds(r.FirstResults[n-1]), n)
	}
	if n := len(r.LongTasks); n > 0 {
		longest = fmt.Sprintf("%s, %d above 50 ms", milliseconds(r.LongTasks[n-1]), n)
	}
	_, err := fmt.Fprintf(w, "%s%s%s%-14s %s (%s)\n%-14s %s; page complete after %.1f s (%s)\n%-14s %s\n%-14s %d, reached the last: %t, scrolled for %.1f s\n%-14s %d MiB, scripts %d MiB at the end\n",
		load("home page", r.Home), load("page of a file", r.File), load("by a link", r.Followed), "first result", first, r.FewQuery,
		"whole answer", r.AllTold, r.All.Seconds(), r.AllQuery, "longest task", longest,
		"results", r.Results, r.LastReached, r.Scrolled.Seconds(), "memory", r.PageBytes>>20, r.HeapBytes>>20)
	for _, text := range r.Wrong() {
		if err == nil {
			_, err = fmt.Fprintln(w, text)
		}
	}
	return err
}
