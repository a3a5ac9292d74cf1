package event

import (
	"html"
	"net/url"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/age"
	"github.com/trawlsearch/trawl/query"
)

// CommitText is how a commit that matched is shown, in a stream and elsewhere.
type CommitText struct {
	// URL is the path of the commit's page.
	URL string
	// Label and Detail are Markdown with links; LabelHTML and DetailHTML are the
	// same as HTML.
	Label, LabelHTML, Detail, DetailHTML string
	// Body is the message or diff as Markdown, BodyHTML as HTML.
	Body, BodyHTML string
	// Highlights are the places in Body, each a line, counted from that of the
	// fence, the characters before it and their number.
	Highlights [][3]uint32
}

// NewCommitText returns the text of m as of a time.
func NewCommitText(m *query.CommitMatch, now time.Time) CommitText {
	address := (&url.URL{Path: "/" + m.Repo.Name + "/-/commit/" + m.OID}).EscapedPath()
	repo := (&url.URL{Path: "/" + m.Repo.Name}).EscapedPath()
	subject, _, _ := strings.Cut(m.Message, "\n")
	return CommitText{
		URL: address, Label: commitLabel(m, address), Detail: commitDetail(m, address, now), Body: fenced(m),
		LabelHTML: "<p>" + link(displayName(m.Repo.Name), repo) + " › " + link(m.Author.Name, address) + ": " +
			link(strings.TrimSpace(subject), address) + "</p>",
		DetailHTML: "<p>" + link(m.OID[:min(7, len(m.OID))]+" "+age.Words(m.Author.Date, now), address) + "</p>",
		BodyHTML:   "<pre><code>" + html.EscapeString(m.Body) + "\n</code></pre>",
		Highlights: highlights(m),
	}
}

// link is HTML; address is a path that is escaped already.
func link(text, address string) string {
	return `<a href="` + html.EscapeString(address) + `">` + html.EscapeString(text) + "</a>"
}
