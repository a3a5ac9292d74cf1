package graphql

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// repoMeta is the type RepoMeta.
type repoMeta struct{ s *session }

// RepoMeta is about the metadata of the repositories that can be seen.
func (*resolver) RepoMeta(ctx context.Context) *repoMeta { return &repoMeta{sessionOf(ctx)} }

// metaArgs choose keys or values.
type metaArgs struct {
	Query wire.String
	wire.PageArgs
}

// textConnection is the type RepoKeyConnection.
type textConnection struct {
	Nodes      []string
	TotalCount int32
	PageInfo   wire.Page
}

func newTextConnection(found map[string]bool, args metaArgs) (*textConnection, error) {
	word := strings.ToLower(args.Query.Or(""))
	all := slices.Sorted(maps.Keys(found))
	all = slices.DeleteFunc(all, func(t string) bool { return !strings.Contains(strings.ToLower(t), word) })
	p, err := wire.CutByName(all, maxRepositories, args.PageArgs)
	if err != nil {
		return nil, err
	}
	return &textConnection{append([]string{}, all[p.From:p.To]...), wire.Int32(len(all)), p}, nil
}

// Keys lists the keys.
func (m *repoMeta) Keys(args metaArgs) (*textConnection, error) {
	found := map[string]bool{}
	for _, r := range m.s.VisibleRepositories() {
		for k := range r.Metadata {
			found[k] = true
		}
	}
	return newTextConnection(found, args)
}

// Key is one that a repository has, or null.
func (m *repoMeta) Key(args struct{ Key string }) *metaKey {
	for _, r := range m.s.VisibleRepositories() {
		if _, ok := r.Metadata[args.Key]; ok {
			return &metaKey{m.s, args.Key}
		}
	}
	return nil
}

// metaKey is the type RepoMetadataKey.
type metaKey struct {
	s   *session
	key string
}

// Values lists the values; tags have none.
func (k *metaKey) Values(args metaArgs) (*textConnection, error) {
	found := map[string]bool{}
	for _, r := range k.s.VisibleRepositories() {
		if v := r.Metadata[k.key]; v != nil {
			found[*v] = true
		}
	}
	return newTextConnection(found, args)
}
