package gitobject

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/git"
)

// Commit is the type GitCommit.
type Commit struct {
	repo *Repository
	oid  string
	// rev is the revision that a person wrote, empty for the default branch.
	rev string
}

// NewCommit returns a commit of a repository; rev is the revision that a person
// wrote.
func NewCommit(r *Repository, oid, rev string) *Commit { return &Commit{repo: r, oid: oid, rev: rev} }

// commitKey is the key of a commit's global id.
type commitKey struct {
	Repository graphql.ID `json:"r"`
	Commit     string     `json:"c"`
}

func (c *Commit) ID() graphql.ID               { return wire.NewID(wire.KindCommit, commitKey{c.repo.ID(), c.oid}) }
func (c *Commit) Repository() *Repository      { return c.repo }
func (c *Commit) OID() wire.Text               { return wire.Text(c.oid) }
func (c *Commit) AbbreviatedOID() string       { return short(c.oid) }
func (c *Commit) CanonicalURL() string         { return code.CommitURL(c.repo.rec.Name, c.oid) }
func (c *Commit) ExternalURLs() []externalLink { return []externalLink{} }

// URL is by the revision that was asked for.
func (c *Commit) URL() string {
	if c.rev == "" {
		return c.CanonicalURL()
	}
	return code.CommitURL(c.repo.rec.Name, c.rev)
}

func (c *Commit) git() *code.Reader { return c.repo.s.gitOf(c.repo.rec) }

func (c *Commit) read(ctx context.Context) (*git.CommitObject, error) {
	g, err := c.git().Commit(ctx, c.oid)
	if errors.Is(err, git.ErrMissing) {
		return nil, wire.Refuse("commit %s is not there any more", c.oid)
	}
	return g, err
}

// Author is who wrote it.
func (c *Commit) Author(ctx context.Context) (*signature, error) {
	g, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	return c.signature(ctx, g.Author)
}

// Committer is who put it there.
func (c *Commit) Committer(ctx context.Context) (*signature, error) {
	g, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	return c.signature(ctx, g.Committer)
}

func (c *Commit) signature(ctx context.Context, s git.Signature) (*signature, error) {
	return newSignature(s), c.repo.s.ShowName(ctx, s.Name, s.Email)
}

// Message is whole.
func (c *Commit) Message(ctx context.Context) (string, error) {
	g, err := c.read(ctx)
	if err != nil {
		return "", err
	}
	return g.Message, c.repo.s.Show([]byte(g.Message))
}

// Subject is the first line of the message.
func (c *Commit) Subject(ctx context.Context) (string, error) {
	message, err := c.Message(ctx)
	subject, _, _ := strings.Cut(message, "\n")
	return subject, err
}

// Body is what stands behind the subject.
func (c *Commit) Body(ctx context.Context) (*string, error) {
	message, err := c.Message(ctx)
	_, body, _ := strings.Cut(message, "\n")
	return wire.TextOrNull(strings.TrimSpace(body)), err
}

// Parents are the commits before it.
func (c *Commit) Parents(ctx context.Context) ([]*Commit, error) {
	g, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.repo.s.Reserve(ctx, len(g.Parents)); err != nil {
		return nil, err
	}
	out := []*Commit{}
	for _, oid := range g.Parents {
		out = append(out, &Commit{repo: c.repo, oid: oid, rev: oid})
	}
	return out, nil
}

// signature is the type Signature.
type signature struct {
	Person account.Person
	Date   string
}

func newSignature(s git.Signature) *signature {
	return &signature{account.Person{Name: s.Name, Email: s.Email}, time.Unix(s.Seconds, 0).UTC().Format(time.RFC3339)}
}

// commitConnection is the type GitCommitConnection, and TreeEntryHistory.
type commitConnection struct {
	Nodes      []*Commit
	TotalCount *int32
	PageInfo   wire.ForwardPage
}

// maxCommits is how many commits a page may have.
const maxCommits = 10_000

// Ancestors lists the commits that led to this one.
func (c *Commit) Ancestors(ctx context.Context, args struct {
	First              wire.Int
	Query, Path        wire.String
	Follow             wire.Bool
	After, AfterCursor wire.String
	Before             wire.String
}) (*commitConnection, error) {
	path, ok := code.CleanPath(args.Path.Or(""))
	if !ok {
		return nil, errPath(args.Path.Or(""))
	}
	for _, text := range []string{args.Query.Or(""), args.After.Or(""), args.Before.Or("")} {
		if err := checkText(text); err != nil {
			return nil, err
		}
	}
	o := git.HistoryOptions{
		Path: path, Follow: args.Follow.Or(false), Message: args.Query.Or(""), After: args.After.Or(""), Before: args.Before.Or(""),
	}
	return c.repo.history(ctx, []string{c.oid}, o, wire.ForwardArgs{First: args.First, After: args.AfterCursor})
}

// history lists commits page by page. Cursors are places in the list, so that
// no page needs those before it.
func (r *Repository) history(ctx context.Context, revs []string, o git.HistoryOptions, args wire.ForwardArgs) (*commitConnection, error) {
	if args.First.Or(0) < 0 {
		return nil, wire.Refuse("a page cannot have a negative length")
	}
	repo, err := r.command(ctx)
	if err != nil {
		return nil, err
	}
	most := wire.PageLength(args.First.Or(0), maxCommits)
	if o.Skip, err = wire.SkipOf(args.After); err != nil {
		return nil, err
	}
	o.Max = most + 1
	out := &commitConnection{Nodes: []*Commit{}}
	err = repo.History(ctx, revs, o, func(oid string) error {
		out.Nodes = append(out.Nodes, &Commit{repo: r, oid: oid, rev: oid})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.s.Reserve(ctx, len(out.Nodes)); err != nil {
		return nil, err
	}
	if len(out.Nodes) > most {
		out.Nodes = out.Nodes[:most]
		out.PageInfo.HasNextPage = true
		end := wire.Cursor(wire.SkipCursor(o.Skip + most))
		out.PageInfo.Page.EndCursor = &end
	}
	if args.First.Value == nil && o.Skip == 0 && !out.PageInfo.HasNextPage {
		n := wire.Int32(len(out.Nodes))
		out.TotalCount = &n
	}
	return out, nil
}

// BehindAhead compares with another revision.
func (c *Commit) BehindAhead(ctx context.Context, args struct{ Revspec string }) (*behindAhead, error) {
	other, err := c.repo.commit(ctx, args.Revspec)
	if err != nil {
		return nil, err
	}
	if other == nil {
		return nil, errRevision(args.Revspec)
	}
	repo, err := c.repo.command(ctx)
	if err != nil {
		return nil, err
	}
	behind, ahead, err := repo.BehindAhead(ctx, other.oid, c.oid)
	if err != nil {
		return nil, err
	}
	return &behindAhead{wire.Int32(behind), wire.Int32(ahead)}, nil
}

// behindAhead is the type BehindAheadCounts.
type behindAhead struct{ Behind, Ahead int32 }

// maxTextBytes is how long a date or a text to look for in messages may be.
const maxTextBytes = 4096

// checkText refuses what cannot be an argument of a command.
func checkText(text string) error {
	if len(text) > maxTextBytes || strings.Contains(text, "\x00") {
		return wire.Refuse("%.40q… is no date and no text that a message could hold", text)
	}
	return nil
}

func errRevision(rev string) error { return wire.Refuse("revision not found: %s", rev) }
func errPath(path string) error    { return wire.Refuse("path %q leads out of the repository", path) }

// Diff compares with another revision, or with the first parent.
func (c *Commit) Diff(ctx context.Context, args struct{ Base wire.String }) (*comparison, error) {
	base := args.Base.Or("")
	if base == "" {
		g, err := c.read(ctx)
		if err != nil {
			return nil, err
		}
		if len(g.Parents) == 0 {
			return nil, wire.Refuse("commit %s has no parent: name a base", c.oid)
		}
		base = g.Parents[0]
	}
	return c.repo.compare(ctx, base, c.oid)
}
