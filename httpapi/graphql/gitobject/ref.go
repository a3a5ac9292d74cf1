package gitobject

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	branchPrefix = "refs/heads/"
	tagPrefix    = "refs/tags/"
)

// The types of refs.
const (
	branchType = "GIT_BRANCH"
	tagType    = "GIT_TAG"
	otherType  = "GIT_REF_OTHER"
)

// Ref is the type GitRef.
type Ref struct {
	repo *Repository
	// name is whole, such as refs/heads/main.
	name string
	// oid and kind are those of what it names, commit what that leads to.
	oid, kind, commit string
}

// refKey is the key of a ref's global id.
type refKey struct {
	Repository graphql.ID `json:"r"`
	Ref        string     `json:"v"`
}

func (r *Ref) ID() graphql.ID          { return wire.NewID(wire.KindRef, refKey{r.repo.ID(), r.name}) }
func (r *Ref) Name() string            { return r.name }
func (r *Ref) AbbrevName() string      { return strings.TrimPrefix(r.name, r.Prefix()) }
func (r *Ref) DisplayName() string     { return r.AbbrevName() }
func (r *Ref) Repository() *Repository { return r.repo }
func (r *Ref) URL() string             { return code.RepositoryURL(r.repo.rec.Name, r.AbbrevName()) }
func (r *Ref) Target() *object {
	return &object{repo: r.repo, oid: r.oid, kind: r.kind, commit: r.commit}
}

// Prefix is what the whole name has before the short one.
func (r *Ref) Prefix() string {
	for _, p := range []string{branchPrefix, tagPrefix, "refs/pull/", "refs/"} {
		if strings.HasPrefix(r.name, p) {
			return p
		}
	}
	return ""
}

// Type tells branches and tags from others.
func (r *Ref) Type() string {
	switch r.Prefix() {
	case branchPrefix:
		return branchType
	case tagPrefix:
		return tagType
	}
	return otherType
}

// object is the type GitObject.
type object struct {
	repo              *Repository
	oid, kind, commit string
}

func (o *object) OID() wire.Text         { return wire.Text(o.oid) }
func (o *object) AbbreviatedOID() string { return short(o.oid) }

// Commit is null for what leads to none.
func (o *object) Commit() *Commit {
	if o.commit == "" {
		return nil
	}
	return &Commit{repo: o.repo, oid: o.commit, rev: o.commit}
}

// Type is git's own word.
func (o *object) Type() string {
	switch o.kind {
	case "commit", "tag", "tree", "blob":
		return "GIT_" + strings.ToUpper(o.kind)
	}
	return "GIT_UNKNOWN"
}

func short(oid string) string { return oid[:min(7, len(oid))] }

// refConnection is the type GitRefConnection.
type refConnection struct {
	Nodes      []*Ref
	TotalCount int32
	PageInfo   wire.ForwardPage
}

// refBytes is what a ref holds beside its name.
const refBytes = 200

// maxRefs is how many refs a page may have, and the most that are looked at.
const maxRefs = 100_000

// refArgs choose refs.
type refArgs struct {
	First       wire.Int
	Query       wire.String
	Type        wire.String
	OrderBy     wire.String
	Interactive wire.Bool
}

// GitRefs lists branches, tags and others.
func (r *Repository) GitRefs(ctx context.Context, args refArgs) (*refConnection, error) {
	prefixes := map[string][]string{branchType: {branchPrefix}, tagType: {tagPrefix}}[args.Type.Or("")]
	return r.refs(ctx, prefixes, args)
}

// Branches lists branches.
func (r *Repository) Branches(ctx context.Context, args struct {
	First       wire.Int
	Query       wire.String
	OrderBy     wire.String
	Interactive wire.Bool
}) (*refConnection, error) {
	return r.refs(ctx, []string{branchPrefix}, refArgs{First: args.First, Query: args.Query, OrderBy: args.OrderBy})
}

// Tags lists tags.
func (r *Repository) Tags(ctx context.Context, args struct {
	First wire.Int
	Query wire.String
}) (*refConnection, error) {
	return r.refs(ctx, []string{tagPrefix}, refArgs{First: args.First, Query: args.Query})
}

// refs lists refs, the branch that is searched first.
func (r *Repository) refs(ctx context.Context, prefixes []string, args refArgs) (*refConnection, error) {
	repo, err := r.command(ctx)
	if err != nil {
		return nil, err
	}
	word := strings.ToLower(args.Query.Or(""))
	all := []*Ref{}
	err = repo.EachRef(ctx, args.OrderBy.Value != nil, prefixes, func(g git.Ref) error {
		if len(all) == maxRefs {
			return wire.Refuse("there are more than %d refs", maxRefs)
		}
		out := &Ref{repo: r, name: g.Name, oid: g.OID, kind: g.Kind, commit: g.Commit}
		if args.Type.Or("") == otherType && out.Type() != otherType {
			return nil
		}
		if !strings.Contains(strings.ToLower(out.AbbrevName()), word) {
			return nil
		}
		r.s.Resume(ctx)
		all = append(all, out)
		return r.s.Hold(refBytes + len(out.name))
	})
	if err != nil {
		return nil, err
	}
	if main := r.DefaultBranch(); main != nil {
		slices.SortStableFunc(all, func(a, b *Ref) int {
			return cmp.Compare(wire.Rank(b.name == main.name), wire.Rank(a.name == main.name))
		})
	}
	p, err := wire.CutByIndex(len(all), maxRefs, wire.PageArgs{First: args.First})
	if err != nil {
		return nil, err
	}
	if err := r.s.Reserve(ctx, p.To-p.From); err != nil {
		return nil, err
	}
	for _, shown := range all[p.From:p.To] {
		if err := r.s.ShowName(ctx, shown.name); err != nil {
			return nil, err
		}
	}
	return &refConnection{all[p.From:p.To], wire.Int32(len(all)), wire.ForwardPage{Page: p}}, nil
}
