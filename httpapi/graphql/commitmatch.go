package graphql

import (
	"context"
	"html"

	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
)

// commitMatch is the type CommitSearchResult.
type commitMatch struct {
	s      *session
	repo   *gitobject.Repository
	m      *query.CommitMatch
	text   event.CommitText
	places [][3]uint32 // of the text that matched, in the body
}

func newCommitMatch(s *session, r *gitobject.Repository, m *query.CommitMatch) *commitMatch {
	return &commitMatch{s, r, m, event.NewCommitText(m, s.Now()), event.Highlights(m)}
}

func (c *commitMatch) URL() string                  { return c.text.URL }
func (c *commitMatch) Refs() []*gitobject.Ref       { return []*gitobject.Ref{} }
func (c *commitMatch) SourceRefs() []*gitobject.Ref { return []*gitobject.Ref{} }
func (c *commitMatch) Commit() *gitobject.Commit {
	return gitobject.NewCommit(c.repo, c.m.OID, "")
}

func (c *commitMatch) highlights() []wire.Highlight {
	out := []wire.Highlight{}
	for _, h := range c.places {
		out = append(out, wire.Highlight{Line: wire.Int32(h[0]), Character: wire.Int32(h[1]), Length: wire.Int32(h[2])})
	}
	return out
}

// markdown returns a text that may be shown.
func (c *commitMatch) markdown(text, asHTML string) (wire.Markdown, error) {
	return wire.Markdown{Text: text, HTML: asHTML}, c.s.ShowParts([]byte(text+asHTML), 0)
}

// Label is a line with links.
func (c *commitMatch) Label() (wire.Markdown, error) {
	return c.markdown(c.text.Label(), "<p>"+anchor(c.text.Repository, c.text.RepositoryURL)+" › "+
		anchor(c.text.Author, c.text.URL)+": "+anchor(c.text.Subject, c.text.URL)+"</p>")
}

// Detail is a link with the date.
func (c *commitMatch) Detail() (wire.Markdown, error) {
	return c.markdown(c.text.Detail(), "<p>"+anchor(c.text.ID+" "+c.text.Age, c.text.URL)+"</p>")
}

// Matches is one: clients read the first.
func (c *commitMatch) Matches(ctx context.Context) ([]wire.Match, error) {
	body, err := c.markdown(c.text.Body, "<pre><code>"+html.EscapeString(c.m.Body)+"\n</code></pre>")
	if err == nil {
		err = c.s.Reserve(ctx, len(c.places))
	}
	return []wire.Match{{URL: c.text.URL, Body: body, Highlights: c.highlights()}}, err
}

// MessagePreview is null for a diff.
func (c *commitMatch) MessagePreview(ctx context.Context) (*wire.HighlightedString, error) {
	return c.preview(ctx, !c.m.IsDiff)
}

// DiffPreview is null for a message.
func (c *commitMatch) DiffPreview(ctx context.Context) (*wire.HighlightedString, error) {
	return c.preview(ctx, c.m.IsDiff)
}

func (c *commitMatch) preview(ctx context.Context, has bool) (*wire.HighlightedString, error) {
	if !has {
		return nil, nil
	}
	if err := c.s.ShowParts([]byte(c.m.Body), 0); err != nil {
		return nil, err
	}
	return &wire.HighlightedString{Value: c.m.Body, Highlights: c.highlights()}, c.s.Reserve(ctx, len(c.places))
}

// anchor is a link as HTML; address is a path that is escaped already.
func anchor(text, address string) string {
	return `<a href="` + html.EscapeString(address) + `">` + html.EscapeString(text) + "</a>"
}
