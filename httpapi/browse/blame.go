package browse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/age"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	// maxBlameLines is how many lines a page of a blame has.
	maxBlameLines = 1000
	// usualBlameWithin is that of Endpoint.BlameWithin: git reads each commit that
	// changed the file.
	usualBlameWithin = 15 * time.Second
	// hunkBytes is what a hunk holds beside its texts, as read and as shown.
	hunkBytes = 800
	// maxBlameSubject is how much of a subject a page shows beside lines.
	maxBlameSubject = 120
)

// hunkRow is a run of lines that one commit wrote.
type hunkRow struct {
	Lines                           int
	Short, CommitURL, Subject, Name string
	When                            time.Time
	Age                             string
	// Heat is from 0 for years ago to 4 for this month.
	Heat int
	// ParentURL is the blame of the file before that commit, "" if it had none.
	ParentURL string
}

var errNoBlameRoom = errors.New("no memory for the hunks of a blame")

// addBlame tells who wrote the lines of a window. The problem says why it does not.
// The answer has no processor while git is at work.
func (e *Endpoint) addBlame(r *http.Request, p *target, s *source) (problem string, err error) {
	if p.gone != nil {
		return p.missing(), nil
	}
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return "", err
	}
	within := cmp.Or(e.BlameWithin, usualBlameWithin)
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	work := httpapi.WorkOf(r.Context())
	work.Rest()
	hunks, err := repo.Blame(ctx, p.commit, p.path, s.First, s.Last, false, func(h git.BlameHunk) error {
		if !work.Grow(int64(hunkBytes + 2*(len(h.Author.Name)+len(h.Author.Email)+len(h.Subject)+len(h.Path)+len(h.ParentPath)))) {
			return errNoBlameRoom
		}
		return nil
	})
	late := ctx.Err() != nil
	if failed := work.Resume(r.Context()); failed != nil {
		return "", failed
	}
	switch {
	case r.Context().Err() != nil:
		return "", r.Context().Err()
	case errors.Is(err, errNoBlameRoom):
		return "The server has no memory for who wrote these lines: try again later.", nil
	case err != nil && late:
		return fmt.Sprintf("Git could not tell within %s who wrote these lines: too many commits changed the file.", within), nil
	case err != nil:
		return "", p.readable(err)
	}
	now := time.Now
	if e.Now != nil {
		now = e.Now
	}
	for _, h := range hunks {
		if i := h.StartLine - s.First; i >= 0 && i < len(s.Lines) {
			s.Lines[i].Hunk = p.newHunkRow(h, min(h.Lines, len(s.Lines)-i), now())
		}
	}
	return "", nil
}

func (p *target) newHunkRow(h git.BlameHunk, lines int, now time.Time) *hunkRow {
	when := time.Unix(h.Author.Seconds, 0).UTC()
	row := &hunkRow{
		Lines: lines, Short: short(h.Commit), CommitURL: code.CommitURL(p.rec.Name, h.Commit), Subject: shown(strings.Clone(cut(h.Subject, maxBlameSubject))),
		Name: shown(strings.Clone(cut(h.Author.Name, maxBlameSubject))), When: when, Age: age.Words(when, now), Heat: heat(now.Sub(when)),
	}
	if h.Parent != "" && len(h.ParentPath) <= maxPathBytes {
		row.ParentURL = code.BlameURL(p.rec.Name, h.Parent, h.ParentPath) + "?L" + strconv.Itoa(max(h.OldLine, 1))
	}
	return row
}

func heat(age time.Duration) int {
	const month = 30 * 24 * time.Hour
	for i, most := range []time.Duration{month, 6 * month, 12 * month, 36 * month} {
		if age < most {
			return 4 - i
		}
	}
	return 0
}
