package monitors

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// oldest is how much older than a monitor commits are that it tells.
const oldest = 30 * 24 * time.Hour

// textBytes is how much of a match is kept to be shown.
const textBytes = 300

// tooMany is why a repository is not told about. Only a change of it or of the query helps.
var tooMany = fmt.Sprintf("it has more than %d matches: ask for less", saved.MaxMatches)

// find searches a repository and has the store know what is there. why is what of it was
// not searched, for people.
func (r *Runner) find(ctx context.Context, m *saved.Monitor, q *query.Query, actor *auth.Actor, repo *store.Repository) (why string, err error) {
	found := &matches{seen: map[uint64]int{}, since: m.Since.Add(-oldest)}
	results := report.New(r.Kept.Now)
	contexts := &manage.Contexts{Kept: r.Kept, Actor: actor}
	out := r.Searcher.Search(ctx, q, search.Options{
		Display: -1, Report: results, Only: repo.ID, Visible: actor.CanSee, Contexts: contexts.Resolve,
	}, found)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case found.full:
		// Which of them came is chance, so none can be told to be new.
		return tooMany, nil
	case out.Err != nil:
		r.Log.Warn().Uint32("search", m.Search).Str("repo", repo.Name).Err(out.Err).Msg("run monitor")
		why = "the search failed; the server's log tells why"
	case out.Alert != nil && !out.Alert.Advice:
		why = out.Alert.Title
	default:
		// commits older than the index are none that a monitor tells
		why = results.LeftOut(report.ReasonHistoryDepth)
	}
	at := saved.Looked{Repository: repo.ID, Name: repo.Name, Created: repo.Created, State: stateOf(repo)}
	fired, err := r.Kept.Book.Monitors.Know(m, at, found.all, why == "")
	switch {
	case errors.Is(err, saved.ErrTooManyKnown):
		return err.Error() + ": ask for less", nil
	case errors.Is(err, store.ErrCorrupt):
		r.Log.Error().Uint32("search", m.Search).Str("repo", repo.Name).Err(err).Msg("what a monitor knows is damaged, it begins anew there")
		return "what was known of it was damaged", r.Kept.Book.Monitors.Forget(m.Search, repo.ID)
	case err == nil && fired != nil:
		r.Log.Info().Uint32("search", m.Search).Str("repo", repo.Name).Int("matches", fired.Count).Msg("monitor fired")
	}
	return why, err
}

// errFull ends a search that has found as much as a monitor tells apart.
var errFull = errors.New("enough was found")

// matches is a sink for what a repository has.
type matches struct {
	all []saved.Found
	// seen counts those with the same content, so that a second one is another match.
	seen map[uint64]int
	// since is before which commits are too old to be new.
	since time.Time
	// full says that there are more than saved.MaxMatches.
	full bool
}

// Send takes matches.
func (m *matches) Send(found []query.Match) error {
	for _, f := range found {
		switch f := f.(type) {
		case *query.FileMatch:
			m.file(f)
		case *query.CommitMatch:
			if f.Committer.Date.Before(m.since) {
				continue
			}
			m.add(saved.Found{Commit: f.OID, Text: cut(first(f.Message))}, "commit", f.OID)
		case *query.OwnerMatch:
			name := cmp.Or(f.Handle, f.Email)
			m.add(saved.Found{Text: cut(name)}, "owner", name)
		case *query.RepoMatch:
			m.add(saved.Found{Text: f.Repo.Name}, "repository", f.Rev)
		}
		if m.full {
			return errFull
		}
	}
	return nil
}

// file adds the lines and symbols of a document, or the document if it has none.
func (m *matches) file(f *query.FileMatch) {
	for i := range f.Chunks {
		m.chunk(f, &f.Chunks[i])
	}
	for _, s := range f.Symbols {
		m.add(saved.Found{Path: f.Path, Line: int(s.Line), Commit: f.Commit, Text: cut(s.Name)}, "symbol", f.Rev, f.Path, string(s.Kind), s.Container, s.Name)
	}
	if len(f.Chunks) == 0 && len(f.Symbols) == 0 {
		m.add(saved.Found{Path: f.Path, Commit: f.Commit}, "path", f.Rev, f.Path)
	}
}

// chunk adds each run of lines in which a match begins.
func (m *matches) chunk(f *query.FileMatch, c *query.Chunk) {
	lines := bytes.SplitAfter(c.Content, []byte("\n"))
	next := uint32(0)
	for _, r := range c.Ranges {
		from, to := r.Start.Line-c.Start.Line, r.End.Line-c.Start.Line
		if r.Start.Line < next || int(from) >= len(lines) {
			continue // one in these lines is counted
		}
		next = r.Start.Line + 1
		text := strings.TrimSpace(string(bytes.Join(lines[from:min(int(to)+1, len(lines))], nil)))
		m.add(saved.Found{Path: f.Path, Line: int(r.Start.Line) + 1, Commit: f.Commit, Text: cut(text)}, "line", f.Rev, f.Path, text)
	}
}

// add adds a match that is told from others by its parts, and by how many like it came
// before.
func (m *matches) add(f saved.Found, parts ...string) {
	if len(m.all) == saved.MaxMatches {
		m.full = true
		return
	}
	same := hash(0, parts...)
	f.Hash = hash(m.seen[same], parts...)
	m.seen[same]++
	m.all = append(m.all, f)
}

// hash is the beginning of a SHA-256, so that no one can write a line that passes for a
// known one.
func hash(nth int, parts ...string) uint64 {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%d\x00%q", nth, parts)
	return binary.BigEndian.Uint64(sum.Sum(nil))
}

// first is the first line of a text.
func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// cut is a copy of the beginning of a text, as valid UTF-8.
func cut(text string) string {
	if len(text) > textBytes {
		text = text[:textBytes]
	}
	return strings.Clone(strings.ToValidUTF8(text, "\uFFFD")) // and not what it was cut from
}
