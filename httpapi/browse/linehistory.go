package browse

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/text"
)

// lineCommitsPage is how many commits a page of the history of lines has, with what each
// changed.
const lineCommitsPage = 20

// lineHistoryData is the data of the page of the commits that changed lines of a file.
type lineHistoryData struct {
	commitsData
	lineRange
	Name, FileURL string
	Split         bool
	// OtherSides is the address of the same page with the sides of diffs the other way.
	OtherSides string
	Changes    []lineChange
}

// First and Last are the lines.
func (d lineHistoryData) First() int { return d.first }

// Last is the last of the lines.
func (d lineHistoryData) Last() int { return d.last }

// lineChange is a commit with what it changed of the lines.
type lineChange struct {
	commitRow
	Files []diffFile
}

// lineHistory shows the commits that changed lines of the file at the path.
func (e *Endpoint) lineHistory(r *http.Request, p *target, found git.Entry, lines lineRange, skip int) (answer, error) {
	data := lineHistoryData{commitsData: commitsData{head: p.head()}, Name: shown(found.Name)}
	data.SwitchURL = switchURL(p.rec.Name, p.path, "commits")
	data.Split = diffViewOf(r).Split
	var err error
	if data.lineRange, data.Problem, err = p.linesOf(r.Context(), found, lines); err != nil {
		return answer{}, err
	}
	data.FileURL = code.BlobURL(p.rec.Name, p.rev, p.path) + data.query()
	if data.Problem == "" {
		if err := e.addLineChanges(r, p, &data, skip); err != nil {
			return answer{}, err
		}
	}
	data.OtherSides = data.address(p, !data.Split, skip)
	if skip > 0 {
		data.Newer = data.address(p, data.Split, max(0, skip-lineCommitsPage))
	}
	return answer{page: "linehistory.html", data: data}, nil
}

// address is that of another view of the page.
func (d *lineHistoryData) address(p *target, split bool, skip int) string {
	out := code.CommitsURL(p.rec.Name, p.rev, p.path) + d.query()
	if split {
		out += "&" + viewParameter + "=" + viewSplit
	}
	if skip > 0 {
		out += "&skip=" + strconv.Itoa(skip)
	}
	return out
}

// linesOf returns those of the lines that the file has, or why git cannot follow them.
func (p *target) linesOf(ctx context.Context, found git.Entry, lines lineRange) (lineRange, string, error) {
	o, err := p.object(ctx, found, maxShownBytes)
	switch {
	case errors.Is(err, git.ErrTooLarge):
		return lines, "The file is too large for its lines to be followed.", nil
	case err != nil:
		return lines, "", p.readable(err)
	case p.gone != nil:
		return lines, "Its lines cannot be followed without the git repository.", nil
	}
	// git takes a text in UTF-16 for binary too.
	if _, reason := text.Decode(o.Data); reason != "" || bytes.IndexByte(o.Data, 0) >= 0 {
		return lines, "The file is binary.", nil
	}
	n := countLines(o.Data)
	if lines.first > n {
		return lines, fmt.Sprintf("The file ends before these lines: it has %d.", n), nil
	}
	return lineRange{first: lines.first, last: min(lines.last, n)}, "", nil
}

// addLineChanges adds the commits that changed the lines. The answer has no processor while
// git is at work.
func (e *Endpoint) addLineChanges(r *http.Request, p *target, data *lineHistoryData, skip int) error {
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return err
	}
	within := cmp.Or(e.BlameWithin, usualBlameWithin)
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	work := httpapi.WorkOf(r.Context())
	work.Rest()
	o := git.LogOptions{Depth: git.LogHunks, MaxFileBytes: maxDiffFileBytes, MaxCommitBytes: maxDiffFileBytes}
	var changes []git.LineChange
	left := maxDiffBytes
	err = repo.LineHistory(ctx, p.commit, p.path, git.LineRange{First: data.first, Last: data.last}, git.HistoryOptions{Skip: skip, Max: lineCommitsPage + 1}, o, func(c git.LineChange) error {
		for i := range c.Files {
			f := &c.Files[i]
			if left -= len(f.Hunks) + len(f.Path) + len(f.OldPath); left < 0 {
				f.Hunks, f.State = nil, git.DiffTooLarge
				f.Path, f.OldPath = paintPath(f.Path), paintPath(f.OldPath)
				continue
			}
			f.Hunks = bytes.Clone(f.Hunks)
		}
		changes = append(changes, c)
		return nil
	})
	late := ctx.Err() != nil
	if failed := work.Resume(r.Context()); failed != nil {
		return failed
	}
	switch {
	case r.Context().Err() != nil:
		return r.Context().Err()
	case err != nil && late:
		data.Problem = fmt.Sprintf("Git could not follow these lines any further within %s.", within)
	case errors.Is(err, git.ErrTooCostly):
		data.Problem = "Git takes too much memory to follow these lines any further."
	case err != nil:
		return p.readable(err)
	}
	if len(changes) > lineCommitsPage {
		changes = changes[:lineCommitsPage]
		data.Older = data.address(p, data.Split, skip+lineCommitsPage)
	}
	return e.showLineChanges(r.Context(), p, data, changes)
}

// showLineChanges makes HTML of commits and their hunks, within the limits of the page of
// one diff.
func (e *Endpoint) showLineChanges(ctx context.Context, p *target, data *lineHistoryData, changes []git.LineChange) error {
	diff := diffData{diffView: diffView{Split: data.Split}, left: listBytes}
	for _, change := range changes {
		c, err := p.code.Commit(ctx, change.Commit)
		if err != nil {
			return p.readable(err)
		}
		row := lineChange{commitRow: newCommitRow(p.rec.Name, c)}
		for _, d := range change.Files {
			f := p.diffFile(d, "", change.Commit)
			diff.show(&f, d.Hunks)
			row.Files = append(row.Files, f)
		}
		data.Changes = append(data.Changes, row)
	}
	painter := e.painter.newDiffPainter()
	for _, row := range data.Changes {
		painter.files(ctx, row.Files)
	}
	return nil
}
