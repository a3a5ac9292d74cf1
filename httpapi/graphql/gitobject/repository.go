package gitobject

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/redact"
)

// Repository is the type Repository. As with all aliases here, the engine alone
// calls its methods, and the schema explains them.
type Repository struct {
	s   *Session
	rec *store.Repository
}

func (r *Repository) ID() graphql.ID               { return wire.NewID(wire.KindRepository, r.rec.ID) }
func (r *Repository) DatabaseID() int32            { return wire.Int32(r.rec.ID) }
func (r *Repository) Name() string                 { return r.rec.Name }
func (r *Repository) URI() string                  { return r.rec.Name }
func (r *Repository) URL() string                  { return code.RepositoryURL(r.rec.Name, "") }
func (r *Repository) Description() string          { return r.rec.Description }
func (r *Repository) UpdatedAt() *wire.DateTime    { return wire.TimeOrNull(r.rec.LastIndexed) }
func (r *Repository) IsFork() bool                 { return r.rec.Fork }
func (r *Repository) IsArchived() bool             { return r.rec.Archived }
func (r *Repository) IsPrivate() bool              { return r.rec.Private }
func (r *Repository) Stars() int32                 { return wire.Int32(r.rec.Stars) }
func (r *Repository) CloneInProgress() bool        { return account.CloneStatusOf(r.rec) == account.Cloning }
func (r *Repository) SourceType() string           { return "GIT_REPOSITORY" }
func (r *Repository) Matches() []wire.Match        { return []wire.Match{} }
func (r *Repository) MirrorInfo() *mirrorInfo      { return &mirrorInfo{r.s, r.rec} }
func (r *Repository) Metadata() []keyValue         { return keyValues(r.rec.Metadata) }
func (r *Repository) KeyValuePairs() []keyValue    { return keyValues(r.rec.Metadata) }
func (r *Repository) Detail() wire.Markdown        { return wire.PlainMarkdown("Repository match") }
func (r *Repository) ExternalURLs() []externalLink { return externalLinks(r.rec) }

// Record returns the record behind it.
func (r *Repository) Record() *store.Repository { return r.rec }

// Label is a link to the repository.
func (r *Repository) Label() wire.Markdown {
	return wire.Markdown{Text: "[" + r.rec.Name + "](" + r.URL() + ")", HTML: wire.Paragraph(wire.Anchor(r.rec.Name, r.URL()))}
}

// ViewerCanAdminister is for site admins.
func (r *Repository) ViewerCanAdminister() bool { return r.s.Actor.SiteAdmin() }

// Topics is never null.
func (r *Repository) Topics() []string { return slices.Concat([]string{}, r.rec.Topics) }

// CreatedAt is the time of the record, or of what is known of it first.
func (r *Repository) CreatedAt() wire.DateTime { return wire.DateTime{Time: account.CreatedAt(r.rec)} }

// Language is that of the most text.
func (r *Repository) Language() (string, error) {
	stats, err := r.s.Languages(r.rec)
	if err != nil || len(stats) == 0 {
		return "", err
	}
	return stats[0].Name, nil
}

// DefaultBranch needs no git: it is the branch that was indexed.
func (r *Repository) DefaultBranch() *Ref {
	if len(r.rec.Branches) == 0 {
		return nil
	}
	b := r.rec.Branches[0]
	name := "HEAD"
	if b.Name != "" {
		name = branchPrefix + b.Name
	}
	return &Ref{repo: r, name: name, oid: b.Commit, kind: "commit", commit: b.Commit}
}

// Commit resolves a revision. The default branch is the commit that is
// searched, so that what is read there is what was found.
func (r *Repository) Commit(ctx context.Context, args struct {
	Rev          string
	InputRevspec wire.String
}) (*Commit, error) {
	shown := args.InputRevspec.Or(args.Rev)
	c, err := r.commit(ctx, args.Rev)
	if c != nil {
		c.rev = shown
	}
	return c, err
}

// commit returns nil for a revision that is not there.
func (r *Repository) commit(ctx context.Context, rev string) (*Commit, error) {
	if rev == "" || rev == "HEAD" || rev != "" && rev == r.rec.Commit() {
		if oid := r.rec.Commit(); oid != "" {
			return &Commit{repo: r, oid: oid, rev: rev}, nil
		}
		if !r.rec.Indexed() || rev == "" {
			return nil, nil
		}
	}
	oid, err := r.resolve(ctx, rev)
	if err != nil || oid == "" {
		return nil, err
	}
	return &Commit{repo: r, oid: oid, rev: rev}, nil
}

// resolve returns the commit that a revision names, "" if there is none.
func (r *Repository) resolve(ctx context.Context, rev string) (string, error) {
	if err := r.s.Call(); err != nil {
		return "", err
	}
	return r.s.gitOf(r.rec).Resolve(ctx, rev)
}

// command returns the repository for one command of git's.
func (r *Repository) command(ctx context.Context) (*git.Repo, error) {
	if err := r.s.Call(); err != nil {
		return nil, err
	}
	return r.s.gitOf(r.rec).Repo(ctx)
}

// ExternalRepository tells where it comes from.
func (r *Repository) ExternalRepository() externalRepository {
	if o := r.rec.Origin; o != nil && o.URL != "" {
		return externalRepository{ID: o.ID, ServiceType: o.Kind, ServiceID: o.URL}
	}
	e := externalRepository{ID: r.rec.Name, ServiceType: "other", ServiceID: "local"}
	source := redact.URL(r.rec.Source)
	if u, err := url.Parse(source); err == nil && r.rec.Mirror && u.Host != "" {
		e.ServiceID, e.ID = u.Scheme+"://"+u.Host+"/", strings.Trim(u.Path, "/")
	}
	return e
}

type externalRepository struct{ ID, ServiceType, ServiceID string }

// externalLink is the type ExternalLink.
type externalLink struct {
	URL                      string
	ServiceKind, ServiceType *string
}

// externalLinks is the address a browser could open, if there is one.
func externalLinks(r *store.Repository) []externalLink {
	u, err := url.Parse(redact.URL(r.Source))
	if err != nil || !r.Mirror || u.Scheme != "http" && u.Scheme != "https" {
		return []externalLink{}
	}
	u.Path, u.RawQuery = strings.TrimSuffix(u.Path, ".git"), ""
	kind, word := "OTHER", "other"
	if o := r.Origin; o != nil {
		kind, word = strings.ToUpper(o.Kind), o.Kind
	}
	return []externalLink{{u.String(), &kind, &word}}
}

// keyValue is the type KeyValuePair.
type keyValue struct {
	Key   string
	Value *string
}

func keyValues(metadata map[string]*string) []keyValue {
	out := []keyValue{}
	for _, k := range slices.Sorted(maps.Keys(metadata)) {
		out = append(out, keyValue{k, metadata[k]})
	}
	return out
}

// mirrorInfo is the type MirrorRepositoryInfo.
type mirrorInfo struct {
	s   *Session
	rec *store.Repository
}

func (m *mirrorInfo) CloneInProgress() bool                   { return account.CloneStatusOf(m.rec) == account.Cloning }
func (m *mirrorInfo) CloneProgress() *string                  { return nil }
func (m *mirrorInfo) Cloned() bool                            { return account.CloneStatusOf(m.rec) == account.Cloned }
func (m *mirrorInfo) IsCorrupted() bool                       { return len(m.s.Damage(m.rec)) > 0 }
func (m *mirrorInfo) CorruptionLogs() []account.CorruptionLog { return m.s.Damage(m.rec) }
func (m *mirrorInfo) UpdatedAt() *wire.DateTime               { return wire.TimeOrNull(m.rec.Fetched()) }
func (m *mirrorInfo) NextSyncAt() *wire.DateTime              { return nil }
func (m *mirrorInfo) LastError() *string {
	return wire.TextOrNull(redact.About(m.rec.LastError, m.rec.Source))
}
func (m *mirrorInfo) LastSyncOutput() *string         { return nil }
func (m *mirrorInfo) UpdateSchedule() *updateSchedule { return nil }
func (m *mirrorInfo) UpdateQueue() *updateQueue       { return nil }
func (m *mirrorInfo) Shard() *string                  { return nil }

// RemoteURL is for site admins.
func (m *mirrorInfo) RemoteURL() (string, error) {
	return redact.URL(m.rec.Source), m.s.MustAdmin()
}

// ByteSize is that of the files.
func (m *mirrorInfo) ByteSize() (wire.BigInt, error) { return m.s.FileBytes(m.rec) }

// What is never told of has types all the same.
type (
	updateSchedule struct {
		IntervalSeconds int32
		Due             wire.DateTime
		Index, Total    int32
	}
	updateQueue struct {
		Index    int32
		Updating bool
		Total    int32
	}
	indexHost struct{ Name string }
)

// FileBytes sums the sizes of the files of a repository.
func (s *Session) FileBytes(r *store.Repository) (wire.BigInt, error) {
	docs, err := s.documentsOf(r)
	if err != nil {
		return 0, err
	}
	var n wire.BigInt
	docs.each(func(_ string, d document) { n += wire.BigInt(d.table.FileBytes[d.i]) })
	return n, nil
}

// LanguageStatistics is the type LanguageStatistics.
type LanguageStatistics struct {
	Name       string
	TotalBytes float64
	TotalLines int32
}

// Languages sums the documents of a repository, the language of the most text
// first.
func (s *Session) Languages(r *store.Repository) ([]LanguageStatistics, error) {
	docs, err := s.documentsOf(r)
	if err != nil {
		return nil, err
	}
	byName := map[string]*LanguageStatistics{}
	docs.each(func(_ string, d document) {
		name := d.table.Words[d.table.Language[d.i]]
		if name == "" {
			return
		}
		l := byName[name]
		if l == nil {
			l = &LanguageStatistics{Name: name}
			byName[name] = l
		}
		l.TotalBytes += float64(d.table.FileBytes[d.i])
		l.TotalLines = wire.Int32(int(l.TotalLines) + d.newlines())
	})
	return SortLanguages(byName), nil
}

// SortLanguages puts the language of the most text first.
func SortLanguages(byName map[string]*LanguageStatistics) []LanguageStatistics {
	out := []LanguageStatistics{}
	for _, l := range byName {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b LanguageStatistics) int {
		return cmp.Or(cmp.Compare(b.TotalBytes, a.TotalBytes), strings.Compare(a.Name, b.Name))
	})
	return out
}
