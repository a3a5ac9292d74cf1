package event

import (
	"net/url"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/age"
	"github.com/trawlsearch/trawl/query"
)

// CommitText is how a commit that matched is shown, in a stream and elsewhere. Its texts
// are those of strangers, as they are.
type CommitText struct {
	// URL and RepositoryURL are the paths of the pages of the commit and its repository.
	URL, RepositoryURL string
	// Repository is the name of the repository without the host that it begins with.
	Repository string
	// Author made the commit, and Subject is the first line of its message.
	Author, Subject string
	// ID is its abbreviated id, and Age how long ago it was made, in words.
	ID, Age string
	// Body is the message or diff as Markdown.
	Body string
}

// NewCommitText returns the text of m as of a time.
func NewCommitText(m *query.CommitMatch, now time.Time) CommitText {
	subject, _, _ := strings.Cut(m.Message, "\n")
	return CommitText{
		URL:           (&url.URL{Path: "/" + m.Repo.Name + "/-/commit/" + m.OID}).EscapedPath(),
		RepositoryURL: (&url.URL{Path: "/" + m.Repo.Name}).EscapedPath(),
		Repository:    displayName(m.Repo.Name), Author: m.Author.Name, Subject: strings.TrimSpace(subject),
		ID: m.OID[:min(7, len(m.OID))], Age: age.Words(m.Author.Date, now), Body: fenced(m),
	}
}

// Label is Markdown with three links, whose texts clients take from it: texts are not
// escaped.
func (t *CommitText) Label() string {
	return "[" + t.Repository + "](" + t.RepositoryURL + ") › [" + t.Author + "](" + t.URL + "): [" + t.Subject + "](" + t.URL + ")"
}

// Detail is Markdown with a link whose text is the id and the age.
func (t *CommitText) Detail() string { return "[`" + t.ID + "` " + t.Age + "](" + t.URL + ")" }

// displayName leaves out of a repository's name the host that it begins with.
func displayName(name string) string {
	host, path, _ := strings.Cut(name, "/")
	if strings.Contains(host, ".") && strings.Contains(path, "/") {
		return path
	}
	return name
}

// fenced returns the body as Markdown.
func fenced(m *query.CommitMatch) string {
	kind := "COMMIT_EDITMSG"
	if m.IsDiff {
		kind = "diff"
	}
	return "```" + kind + "\n" + m.Body + "\n```"
}
