package commits

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/diff"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// changes are the files that a commit changed.
type changes interface {
	len() int
	// path returns both paths of file i, the second empty unless it is another,
	// and git's letter for what became of it.
	path(i int) (path, old string, status byte)
	// hunks returns the text of its diff, borrowed until the next call of any of
	// these; ok is false for a file that cannot match.
	hunks(i int) (text []byte, ok bool, err error)
	// content calls use with the text of the file after the change, for
	// file:has.content, and not if it has none. use keeps nothing of it.
	content(ctx context.Context, i int, use func(text []byte)) error
	// pause lets others have the processor if that is their due, and returns why
	// ctx has ended, if it has.
	pause(ctx context.Context) error
}

// matcher confirms commits, one after the other. It belongs to one
// goroutine.
type matcher struct {
	q     *commitQuery
	brute bool

	// joined are the changed lines of the file at hand, without their signs and
	// with newlines between; lines says where they come from.
	joined []byte
	lines  []changedLine
	atoms  []atomSpans
	spans  []match.Span
	budget match.Budget
	// stopped says that a text took too long.
	stopped bool
	// bytes counts the text looked at, for traces.
	bytes int
}

// maxMatcherBytes is how much a matcher keeps, or holds while it waits for a
// processor.
const maxMatcherBytes = 1 << 20

// changedLine is a changed line that begins at start of the joined ones.
type changedLine struct {
	start  uint32
	number int
	sign   byte
}

// atomSpans is what is known of an atom in the text at hand.
type atomSpans struct {
	looked, found bool
	spans         []match.Span
}

func newMatcher(q *commitQuery, brute bool) *matcher {
	return &matcher{q: q, brute: brute, atoms: make([]atomSpans, len(q.Atoms))}
}

// confirm returns the match of a commit of t, nil if it does not match. The
// caller adds who made it, and when. message is called when it is needed.
func (m *matcher) confirm(ctx context.Context, t *target.Repository, message func() (string, error), files changes) (out *query.CommitMatch, err error) {
	m.budget.Done, m.stopped = ctx.Done(), false
	defer func() {
		if m.stopped {
			out, err = nil, match.ErrStopped
		}
	}()
	out = &query.CommitMatch{Repo: t.Shown, IsDiff: m.q.Diff}
	if len(m.q.Messages) > 0 || !m.q.Diff {
		text, err := message()
		if err != nil || !m.messageHolds(text) {
			return nil, err
		}
	}
	if m.q.Diff {
		files, rest, err := m.files(ctx, t, files)
		if err != nil || len(files) == 0 {
			return nil, err
		}
		shown := diff.Preview(files, rest)
		out.Body, out.Ranges, out.Hidden, out.Cut = shown.Body, shown.Ranges, shown.Hidden, shown.Cut
	} else {
		text, err := message()
		if err != nil || m.q.hasPaths() && !m.touches(t, files) {
			return nil, err
		}
		spans, ok := m.message(text)
		if !ok {
			return nil, nil
		}
		out.Body, out.Ranges = text, textRanges(text, spans)
	}
	out = query.Truncate(out, m.q.Limit).(*query.CommitMatch)
	out.Message, err = message()
	return out, err
}

// messageHolds tries the message: filters.
func (m *matcher) messageHolds(text string) bool {
	for i := range m.q.Messages {
		f := &m.q.Messages[i]
		if _, found := m.find(f.Matcher, nil, []byte(text)); found == f.Negated {
			return false
		}
	}
	return true
}

func (m *matcher) find(p *match.Matcher, dst []match.Span, text []byte) ([]match.Span, bool) {
	m.bytes += len(text)
	look := p.FindBytesWithin
	if m.brute {
		look = p.BruteWithin
	}
	dst, found, err := look(&m.budget, dst, text)
	m.stopped = m.stopped || err != nil
	return dst, found
}

// message tries the patterns on a whole message.
func (m *matcher) message(text string) ([]match.Span, bool) {
	return m.try(func(p *match.Matcher, dst []match.Span) ([]match.Span, bool) { return m.find(p, dst, []byte(text)) })
}

// try evaluates the patterns and returns the spans of those that make them
// hold.
func (m *matcher) try(find func(p *match.Matcher, dst []match.Span) ([]match.Span, bool)) ([]match.Span, bool) {
	m.spans = m.spans[:0]
	if m.q.Tree == nil {
		return nil, true
	}
	for i := range m.atoms {
		m.atoms[i].looked, m.atoms[i].spans = false, m.atoms[i].spans[:0]
	}
	ask := func(i int) bool {
		a := &m.atoms[i]
		if !a.looked {
			a.looked = true
			a.spans, a.found = find(m.q.Atoms[i], a.spans)
		}
		return a.found
	}
	if !compile.Eval(m.q.Tree, ask) {
		return nil, false
	}
	compile.VisitTrue(m.q.Tree, ask, func(i int) {
		ask(i)
		m.spans = append(m.spans, m.atoms[i].spans...)
	})
	return match.Merge(m.spans), true
}

// touches reports whether a file passes the filters on paths.
func (m *matcher) touches(t *target.Repository, files changes) bool {
	for i := range files.len() {
		if path, old, _ := files.path(i); m.q.pathsHold(t, path, old) {
			return true
		}
	}
	return false
}

// files returns the files of which something is shown, no more than a preview
// has room for, and counts what is found in the rest.
func (m *matcher) files(ctx context.Context, t *target.Repository, files changes) (shown []diff.Highlighted, rest diff.Rest, err error) {
	// A preview prefers files in which something was found, so the others
	// are only kept while there is none.
	var found, others []diff.Highlighted
	var more diff.Rest
	held := 0
	for i := range files.len() {
		// One that holds much does not wait for others.
		if held <= maxMatcherBytes {
			if err := files.pause(ctx); err != nil {
				return nil, rest, err
			}
		}
		path, old, status := files.path(i)
		if !m.q.pathsHold(t, path, old) {
			continue
		}
		text, ok, err := files.hunks(i)
		if err != nil {
			return nil, rest, err
		}
		if !ok {
			continue
		}
		lines, ok := m.changed(text)
		if !ok {
			continue
		}
		h := diff.Highlighted{Lines: lines}
		m.showPaths(&h, path, old, status)
		highlighted := len(h.Lines)+len(h.OldSpans)+len(h.NewSpans) > 0
		if !highlighted && len(found) > 0 {
			continue
		}
		if len(m.q.Content) > 0 {
			ok, err := m.contentHolds(ctx, files, i)
			if err != nil {
				return nil, rest, err
			}
			if !ok {
				continue
			}
			if text, _, err = files.hunks(i); err != nil {
				return nil, rest, err
			}
		}
		room := highlighted && len(found) < diff.MaxFiles || !highlighted && len(others) < diff.MaxFiles
		if room {
			h.Text = bytes.Clone(text)
			held += len(text)
		}
		switch {
		case !room && !highlighted:
			more.Files++
		case !room:
			rest.Files++
			rest.Places += m.places(&h)
		case highlighted:
			found = append(found, h)
		default:
			others = append(others, h)
		}
	}
	if len(found) > 0 {
		return found, rest, nil
	}
	return others, more, nil
}

// places counts what of a file is a result: where lines of one sign are selected,
// what is found in paths is none.
func (m *matcher) places(h *diff.Highlighted) int {
	n := h.Places()
	if m.q.Sign != 0 {
		n -= len(h.OldSpans) + len(h.NewSpans)
	}
	return n
}

// contentHolds tries file:has.content on what a file became.
func (m *matcher) contentHolds(ctx context.Context, files changes, i int) (holds bool, err error) {
	err = files.content(ctx, i, func(text []byte) {
		holds = !slices.ContainsFunc(m.q.Content, func(p *match.Matcher) bool {
			_, found := m.find(p, nil, text)
			return !found
		})
	})
	return holds, err
}

// changed tries the patterns on the changed lines of a file, each by itself,
// and returns the lines that are shown as matching, none for all.
func (m *matcher) changed(text []byte) ([]diff.Found, bool) {
	m.join(text)
	spans, ok := m.try(func(p *match.Matcher, dst []match.Span) ([]match.Span, bool) {
		m.bytes += len(m.joined)
		if len(m.lines) == 0 {
			return dst, false
		}
		look := p.FindLines
		if m.brute {
			look = p.BruteLines
		}
		dst, found, err := look(&m.budget, dst, m.joined)
		m.stopped = m.stopped || err != nil
		return dst, found
	})
	if !ok {
		return nil, false
	}
	var out []diff.Found
	for i := range m.lines {
		l := &m.lines[i]
		end := uint32(len(m.joined)) + 1
		if i+1 < len(m.lines) {
			end = m.lines[i+1].start
		}
		f := diff.Found{Number: l.number}
		for ; len(spans) > 0 && spans[0].Start < end; spans = spans[1:] {
			f.Spans = append(f.Spans, match.Span{Start: spans[0].Start - l.start, End: spans[0].End - l.start})
		}
		if len(f.Spans) > 0 && (m.q.Sign == 0 || m.q.Sign == l.sign) {
			out = append(out, f)
		}
	}
	if m.q.Sign == 0 {
		return out, true
	}
	if len(m.spans) == 0 {
		for _, l := range m.lines {
			if l.sign == m.q.Sign {
				out = append(out, diff.Found{Number: l.number})
			}
		}
	}
	return out, len(out) > 0
}

func (m *matcher) join(text []byte) {
	if cap(m.joined) > maxMatcherBytes {
		m.joined, m.lines = nil, nil
	}
	m.joined, m.lines = slices.Grow(m.joined[:0], len(text)), m.lines[:0]
	for l := diff.Changed(text); l.Next(); {
		if len(m.lines) > 0 {
			m.joined = append(m.joined, '\n')
		}
		m.lines = append(m.lines, changedLine{uint32(len(m.joined)), l.Number, l.Sign})
		m.joined = append(m.joined, l.Text...)
	}
}

// showPaths adds the paths and where file: filters hit them.
func (m *matcher) showPaths(h *diff.Highlighted, path, old string, status byte) {
	h.NewPath, h.OldPath = path, path
	switch {
	case status == 'A':
		h.OldPath = ""
	case status == 'D':
		h.NewPath = ""
	case old != "":
		h.OldPath = old
	}
	spans := func(path string) []match.Span {
		var out []match.Span
		for i := range m.q.Paths {
			if f := &m.q.Paths[i]; f.HasSpans() {
				out, _ = f.Short(out, path)
			}
		}
		return match.Merge(out)
	}
	h.NewSpans = spans(h.NewPath)
	h.OldSpans = spans(h.OldPath)
}

// textRanges turns spans, which are sorted and disjoint, into ranges of text.
func textRanges(text string, spans []match.Span) []query.Range {
	out := make([]query.Range, 0, len(spans))
	var at query.Location
	goTo := func(offset uint32) query.Location {
		for i := at.Offset; i < offset; i++ {
			switch c := text[i]; {
			case c == '\n':
				at.Line, at.Column = at.Line+1, 0
			case utf8.RuneStart(c):
				at.Column++
			}
		}
		at.Offset = offset
		return at
	}
	for _, s := range spans {
		start := goTo(s.Start)
		out = append(out, query.Range{Start: start, End: goTo(s.End)})
	}
	return out
}

// signed returns a signature as it is shown, by the mailmap of the repository.
func signed(s shard.Signature, people store.People) query.Signature {
	p := people.Is(s.Person)
	return query.Signature{Name: valid(p.Name), Email: valid(p.Email), Date: dateOf(s.Seconds, int(s.ZoneMinutes))}
}

func dateOf(seconds int64, zoneMinutes int) time.Time {
	return time.Unix(seconds, 0).In(time.FixedZone("", zoneMinutes*60))
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// wants reports whether a commit that no columns were read of has the people
// and the date that q asks for.
func (q *commitQuery) wants(author, committer shard.Person, seconds int64) bool {
	return q.Dated(seconds) && compile.PersonHolds(q.Authors, author) && compile.PersonHolds(q.Committers, committer)
}

// peopleOf returns the mailmaps of the targets that have one.
func (s *search) peopleOf(targets *target.Repositories) (map[uint32]store.People, error) {
	out := map[uint32]store.People{}
	ids := targets.IDs().Clone()
	ids.Intersect(s.task.Snapshot.MarkedIDs(store.MarkMailmap))
	for id := range ids.All() {
		people, err := s.task.Snapshot.People(id)
		if err != nil {
			return nil, err
		}
		out[id] = people
	}
	return out, nil
}
