package browse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	// maxRenames is how often a file is followed to the path that it had before.
	maxRenames = 100
	// maxParentsFollowed is how many parents of a commit that adds a file are looked at for
	// the path that it has there.
	maxParentsFollowed = 4
)

// pathHistory reads commits that changed the path of a target, as many as a page asks for,
// newest first. A file is followed through renames: behind the oldest commit of its path are
// those of the path before, as git lists them from there. Where a path was left and taken
// again, what was done under another name in between is not listed. Each page lists them
// from the start, so that its address needs no more than a number. problem says why the file
// was not followed to its end.
func (e *Endpoint) pathHistory(r *http.Request, p *target, skip, most int) (rows []commitRow, problem string, err error) {
	work := httpapi.WorkOf(r.Context())
	work.Rest() // git works
	rows, problem, err = e.readHistory(r, p, skip, most)
	if failed := work.Resume(r.Context()); failed != nil {
		return nil, "", failed
	}
	return rows, problem, err
}

func (e *Endpoint) readHistory(r *http.Request, p *target, skip, most int) (rows []commitRow, problem string, err error) {
	found, ok, err := p.code.At(r.Context(), p.commit, p.path)
	if err != nil || ok && found.Directory() {
		// What cannot be read now may have commits all the same.
		rows, err = p.history(r, []string{p.commit}, git.HistoryOptions{Path: p.path, Skip: skip, Max: most})
		return rows, "", err
	}
	h := &fileHistory{p: p, skip: skip, most: most}
	if err := h.list(r.Context(), p.commit, p.path); err != nil {
		return nil, "", err
	}
	within := cmp.Or(e.BlameWithin, usualBlameWithin)
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	switch err := h.follow(ctx); {
	case r.Context().Err() != nil:
		return nil, "", r.Context().Err()
	case err != nil && ctx.Err() != nil:
		return h.rows, fmt.Sprintf("Git could not follow the file any further within %s.", within), nil
	case errors.Is(err, git.ErrTooCostly):
		return h.rows, "Git takes too much memory to follow the file any further.", nil
	case err != nil:
		return nil, "", p.readable(err)
	case h.renames == maxRenames:
		return h.rows, fmt.Sprintf("The file is followed through %d renames.", maxRenames), nil
	}
	return h.rows, "", nil
}

// fileHistory collects the commits of a file under all its paths.
type fileHistory struct {
	p          *target
	skip, most int
	rows       []commitRow
	// path is where the file was last, and oldest the last of seen commits that changed it.
	path, oldest string
	seen         int
	// renames counts the paths that it had before.
	renames int
}

// list adds the commits that changed a path, from a commit on.
func (h *fileHistory) list(ctx context.Context, from, path string) error {
	repo, err := h.p.code.Repo(ctx)
	if err != nil {
		return err
	}
	h.path, h.oldest = path, ""
	return repo.History(ctx, []string{from}, git.HistoryOptions{Path: path, Max: h.skip + h.most - h.seen}, func(oid string) error {
		h.oldest = oid
		if h.seen++; h.seen <= h.skip {
			return nil
		}
		c, err := h.p.code.Commit(ctx, oid)
		if err != nil {
			return h.p.readable(err)
		}
		row := newCommitRow(h.p.rec.Name, c)
		if path != h.p.path {
			row.As = shown(path)
			if len(path) <= maxPathBytes {
				row.FileURL = code.BlobURL(h.p.rec.Name, oid, path)
			}
		}
		h.rows = append(h.rows, row)
		return nil
	})
}

// follow adds the commits of the paths that the file had before, until the page is full.
func (h *fileHistory) follow(ctx context.Context) error {
	for ; h.renames < maxRenames; h.renames++ {
		if len(h.rows) == h.most || h.oldest == "" {
			return nil
		}
		parent, path, err := h.before(ctx)
		if err != nil || path == "" {
			return err
		}
		if err := h.list(ctx, parent, path); err != nil {
			return err
		}
	}
	return nil
}

// before finds the path that the file had in a parent of the oldest commit, "" if it had
// none, or the same.
func (h *fileHistory) before(ctx context.Context) (parent, path string, err error) {
	c, err := h.p.code.Commit(ctx, h.oldest)
	if err != nil {
		return "", "", err
	}
	repo, err := h.p.code.Repo(ctx)
	if err != nil {
		return "", "", err
	}
	for _, parent := range c.Parents[:min(len(c.Parents), maxParentsFollowed)] {
		_, ok, err := h.p.code.At(ctx, parent, h.path)
		if ok || errors.Is(err, git.ErrMissing) {
			continue // it is not new, or a shallow clone ends here
		}
		if err == nil {
			path, err = repo.RenamedFrom(ctx, parent, h.oldest, h.path)
		}
		if err != nil || path != "" {
			return parent, path, err
		}
	}
	return "", "", nil
}
