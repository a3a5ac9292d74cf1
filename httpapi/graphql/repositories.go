package graphql

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// maxRepositories is how many repositories a page may have.
const maxRepositories = 1000

// repositoriesArgs are the arguments of Query.repositories.
type repositoriesArgs struct {
	wire.PageArgs
	Query                  wire.String
	Names                  *[]string
	Cloned, NotCloned      wire.Bool
	CloneStatus            wire.String
	Indexed, NotIndexed    wire.Bool
	Embedded, NotEmbedded  wire.Bool
	FailedFetch, Corrupted wire.Bool
	ExternalService        *graphql.ID
	OrderBy                wire.String
	Descending             wire.Bool
}

// repositoryConnection is the type NewRepositoryConnection.
type repositoryConnection struct {
	Nodes      []*gitobject.Repository
	TotalCount int32
	PageInfo   wire.Page
}

// Repositories lists those that can be seen.
func (*resolver) Repositories(ctx context.Context, args repositoriesArgs) (*repositoryConnection, error) {
	s := sessionOf(ctx)
	chosen, err := s.choose(args)
	if err != nil {
		return nil, err
	}
	order := args.OrderBy.Or("REPOSITORY_NAME")
	slices.SortFunc(chosen, func(a, b *store.Repository) int { return compareRepositories(a, b, order) })
	if args.Descending.Or(false) {
		slices.Reverse(chosen)
	}
	names := make([]string, len(chosen))
	for i, r := range chosen {
		names[i] = r.Name
	}
	p, err := wire.Cut(len(names), maxRepositories, args.PageArgs, func(i int) string { return names[i] }, s.placeAmong(chosen, order, args.Descending.Or(false)))
	if err != nil {
		return nil, err
	}
	out := &repositoryConnection{Nodes: []*gitobject.Repository{}, TotalCount: wire.Int32(len(chosen)), PageInfo: p}
	for _, r := range chosen[p.From:p.To] {
		out.Nodes = append(out.Nodes, s.Repository(r))
	}
	return out, nil
}

// placeAmong finds where a repository of that name stands or, sorted by name,
// would stand.
func (s *session) placeAmong(sorted []*store.Repository, order string, descending bool) func(name string) int {
	return func(name string) int {
		at := s.ByName(name)
		if at == nil {
			at = &store.Repository{Name: name}
		}
		i, _ := slices.BinarySearchFunc(sorted, at, func(a, b *store.Repository) int {
			c := compareRepositories(a, b, order)
			if descending {
				return -c
			}
			return c
		})
		return i
	}
}

// compareRepositories is a total order.
func compareRepositories(a, b *store.Repository, order string) int {
	c := 0
	switch order {
	case "REPO_CREATED_AT", "REPOSITORY_CREATED_AT":
		c = account.CreatedAt(a).Compare(account.CreatedAt(b))
	case "SIZE":
		c = cmp.Compare(a.TextBytes, b.TextBytes)
	}
	return cmp.Or(c, strings.Compare(a.Name, b.Name))
}

// choose returns the repositories that fit the arguments.
func (s *session) choose(args repositoriesArgs) ([]*store.Repository, error) {
	switch {
	case !args.Cloned.Or(true) && !args.NotCloned.Or(true):
		return nil, wire.Refuse("excluding cloned and not cloned repos leaves an empty set")
	case !args.Indexed.Or(true) && !args.NotIndexed.Or(true):
		return nil, wire.Refuse("excluding indexed and not indexed repos leaves an empty set")
	}
	words := strings.Fields(strings.ToLower(args.Query.Or("")))
	var names map[string]bool // nil for all
	if args.Names != nil {
		names = map[string]bool{}
		for _, name := range *args.Names {
			names[name] = true
		}
	}
	chosen := slices.DeleteFunc(s.VisibleRepositories(), func(r *store.Repository) bool {
		status := account.CloneStatusOf(r)
		switch {
		case names != nil && !names[r.Name],
			!holdsInOrder(strings.ToLower(r.Name), words),
			!args.Cloned.Or(true) && status == account.Cloned,
			!args.NotCloned.Or(true) && status != account.Cloned,
			args.CloneStatus.Value != nil && *args.CloneStatus.Value != status,
			!args.Indexed.Or(true) && r.Indexed(),
			!args.NotIndexed.Or(true) && !r.Indexed(),
			!args.NotEmbedded.Or(true),
			args.FailedFetch.Or(false) && r.LastError == "",
			args.Corrupted.Or(false) && len(s.Damage(r)) == 0:
			return true
		}
		return false
	})
	return s.OfService(chosen, args.ExternalService)
}

// holdsInOrder tells whether text holds the words one behind the other.
func holdsInOrder(text string, words []string) bool {
	for _, w := range words {
		i := strings.Index(text, w)
		if i < 0 {
			return false
		}
		text = text[i+len(w):]
	}
	return true
}

// repositoryFrom finds a repository by where it comes from, whatever the
// protocol, and with or without .git; nil is none.
func (s *session) repositoryFrom(cloneURL string) *gitobject.Repository {
	want := placeOf(cloneURL)
	for _, r := range s.VisibleRepositories() {
		if placeOf(r.Source) == want {
			return s.Repository(r)
		}
	}
	return nil
}

// placeOf is the host and path of an address, and a path as it is.
func placeOf(address string) string {
	if src, err := ingest.ParseSource(address); err == nil && src.Remote {
		return src.Name
	}
	return address
}
