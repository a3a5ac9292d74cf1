package manage

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// Contexts are the search contexts of an actor: public ones, their own, those of their
// organisations and, for site admins, all.
type Contexts struct {
	*Kept
	Actor *auth.Actor
}

// SiteOwner is the owner of contexts that belong to nobody; site admins manage them.
var SiteOwner = saved.Subject{Kind: saved.SubjectSite}

// GlobalContext is the one of all repositories, which is no record.
const GlobalContext = "global"

// What one context, and one owner, may have.
const (
	maxContexts            = 100
	maxContextText         = 16 << 10
	maxContextRepositories = 1000
	maxContextNames        = 64 << 10
	maxRevisions           = 50
	maxRevisionBytes       = 255
	// maxRevisionLists is how many different lists of revisions its repositories may
	// have: each is a search of its own.
	maxRevisionLists = 10
)

// ErrNoContext says that there is no such search context, or none that the actor may
// know of.
const ErrNoContext = notFound("search context not found")

var contextName = regexp.MustCompile(`^[a-zA-Z0-9_\-/.]{1,32}$`)

// Owns reports whether an owner is the actor or an organisation of theirs.
func (c *Contexts) Owns(of saved.Subject) bool { return owns(c.Actor, of) }

// Manages reports whether the actor may change a context.
func (c *Contexts) Manages(v *saved.Context) bool {
	return c.Actor.SiteAdmin() || v.Owner != SiteOwner && c.Owns(v.Owner)
}

func (c *Contexts) sees(v *saved.Context) bool { return v.Public || c.Manages(v) }

// Spec is what stands behind context: in a query, "" for a context that has lost its
// owner.
func (c *Contexts) Spec(v *saved.Context) (string, error) {
	if v.Owner == SiteOwner {
		return v.Name, nil
	}
	name, err := c.OwnerName(v.Owner)
	if err != nil || name == "" {
		return "", err
	}
	return "@" + name + "/" + v.Name, nil
}

// Each calls f with the contexts of the actor, by owner and name. Some may have lost
// their owner.
func (c *Contexts) Each(f func(*saved.Context)) error {
	return c.Book.Contexts.Each(func(v *saved.Context) {
		if c.sees(v) {
			f(v)
		}
	})
}

// Find returns the context that a query names. The error is ErrNoContext for one that
// the actor may not see.
func (c *Contexts) Find(spec string) (*saved.Context, error) {
	owner, name, err := c.named(spec)
	if err != nil {
		return nil, err
	}
	v, err := c.Book.Contexts.Get(owner, name)
	if isNotFound(err) || err == nil && !c.sees(v) {
		return nil, ErrNoContext
	}
	return v, err
}

// named takes a spec apart.
func (c *Contexts) named(spec string) (owner saved.Subject, name string, err error) {
	of, owned := strings.CutPrefix(spec, "@")
	if !owned {
		return SiteOwner, spec, nil
	}
	of, name, _ = strings.Cut(of, "/")
	u, err := c.Registry.UserNamed(of)
	if err == nil {
		return saved.Subject{Kind: saved.SubjectUser, ID: u.ID}, name, nil
	}
	if isNotFound(err) {
		var o *identity.Org
		if o, err = c.Registry.OrgNamed(of); err == nil {
			return saved.Subject{Kind: saved.SubjectOrg, ID: o.ID}, name, nil
		}
	}
	if isNotFound(err) {
		err = ErrNoContext
	}
	return owner, name, err
}

// FindByID is Find by the number of a context.
func (c *Contexts) FindByID(id uint32) (found *saved.Context, err error) {
	err = c.Each(func(v *saved.Context) {
		if v.ID == id {
			found = v
		}
	})
	if err == nil && found == nil {
		err = ErrNoContext
	}
	return found, err
}

// ContextFields are what a context says.
type ContextFields struct {
	Name, Description, Query string
	Public                   bool
	Repositories             []saved.ContextRepository
}

// Create makes a context of an owner. That of the site is for site admins.
func (c *Contexts) Create(owner saved.Subject, f ContextFields) (*saved.Context, error) {
	err := c.mayManage(owner)
	if err == nil {
		err = c.check(owner, f, nil)
	}
	if err != nil {
		return nil, err
	}
	n := 0
	err = c.Book.Contexts.Each(func(v *saved.Context) {
		if v.Owner == owner {
			n++
		}
	})
	if err != nil {
		return nil, err
	}
	if n >= maxContexts {
		return nil, refuse("there are %d search contexts: delete some of them first", n)
	}
	v := saved.Context{Owner: owner}
	f.write(&v)
	made, err := c.Book.Contexts.Add(v)
	return made, taken(err)
}

func (c *Contexts) mayManage(owner saved.Subject) error {
	if owner == SiteOwner {
		return auth.RequireSiteAdmin(c.Actor)
	}
	return c.mayOwn(c.Actor, owner)
}

func (f ContextFields) write(v *saved.Context) {
	v.Name, v.Description, v.Query, v.Public, v.Repositories = f.Name, f.Description, f.Query, f.Public, f.Repositories
}

// taken words the error of a name that is taken.
func taken(err error) error {
	if errors.Is(err, store.ErrExists) {
		return refuse("search context already exists")
	}
	return err
}

// known finds a context that the actor may change.
func (c *Contexts) known(spec string) (*saved.Context, error) {
	v, err := c.Find(spec)
	if err == nil && !c.Manages(v) {
		err = c.mayManage(v.Owner)
	}
	return v, err
}

// Change changes a context. Repositories of it that the actor may not see stay.
func (c *Contexts) Change(spec string, f ContextFields) (*saved.Context, error) {
	v, err := c.known(spec)
	if err != nil {
		return nil, err
	}
	if f.Query == "" {
		sn := c.Store.Snapshot()
		for _, r := range v.Repositories {
			if at := sn.RepositoryByID(r.ID); at != nil && !c.Actor.CanSee(at) {
				f.Repositories = append(f.Repositories, r)
			}
		}
		if err := sn.Close(); err != nil {
			return nil, err
		}
	}
	if err := c.check(v.Owner, f, v.Repositories); err != nil {
		return nil, err
	}
	v, err = c.Book.Contexts.Change(v.Owner, v.Name, f.write)
	return v, taken(err)
}

// Delete forgets a context.
func (c *Contexts) Delete(spec string) error {
	v, err := c.known(spec)
	if err != nil {
		return err
	}
	return c.Book.Contexts.Remove(v.Owner, v.Name)
}

// check refuses what a context cannot be. kept are repositories that it has already.
func (c *Contexts) check(owner saved.Subject, f ContextFields, kept []saved.ContextRepository) error {
	switch {
	case !contextName.MatchString(f.Name):
		return refuse("a search context has a name of 1 to 32 letters, digits, dots, dashes, slashes and underscores")
	case owner == SiteOwner && strings.EqualFold(f.Name, GlobalContext):
		return refuse("search context already exists")
	case len(f.Description) > 1024:
		return refuse("the description of a search context has at most 1024 bytes")
	case f.Query != "" && len(f.Repositories) > 0:
		return refuse("a search context has a query or a list of repositories, not both")
	case f.Query != "":
		_, err := contextFilters(f.Query)
		return err
	case len(f.Repositories) == 0:
		return refuse("a search context needs a query or repositories")
	case len(f.Repositories) > maxContextRepositories:
		return refuse("a search context lists at most %d repositories: use a query for more", maxContextRepositories)
	}
	return c.checkRepositories(f.Repositories, kept)
}

func (c *Contexts) checkRepositories(all, kept []saved.ContextRepository) (err error) {
	sn := c.Store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	lists, names := map[string]bool{}, 0
	for _, r := range all {
		at := sn.RepositoryByID(r.ID)
		had := slices.ContainsFunc(kept, func(k saved.ContextRepository) bool { return k.ID == r.ID })
		if !had && (at == nil || !c.Actor.CanSee(at)) {
			return refuse("repository not found")
		}
		if at != nil {
			names += len(at.Name)
		}
		if len(r.Revisions) > maxRevisions {
			return refuse("a repository of a search context has at most %d revisions", maxRevisions)
		}
		for _, rev := range r.Revisions {
			if !goodRevision(rev) {
				return refuse("%.300q is no revision for a search context", rev)
			}
		}
		lists[revisionList(r)] = true
	}
	switch {
	case len(lists) > maxRevisionLists:
		return refuse("the repositories of a search context have at most %d different lists of revisions", maxRevisionLists)
	case names > maxContextNames:
		return refuse("the names of the repositories are too long: use a query")
	}
	return nil
}

// goodRevision refuses what would mean something else behind repo:name@, and what
// would match more than one.
func goodRevision(rev string) bool {
	return rev != "" && len(rev) <= maxRevisionBytes && !strings.ContainsFunc(rev, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0xfffd || strings.ContainsRune(`:*@?[\«»"'()`, r)
	}) && rev[0] != '^' && rev[0] != '-'
}

// revisionList are the revisions of a repository as they stand behind repo:name@; ""
// is the default branch.
func revisionList(r saved.ContextRepository) string {
	if len(r.Revisions) == 1 && r.Revisions[0] == "HEAD" {
		return ""
	}
	return strings.Join(r.Revisions, ":")
}

// Choice returns what a user chose, for them and site admins.
func (c *Contexts) Choice(user uint32) (*saved.ContextChoice, error) {
	if user == 0 { // who has no account has chosen nothing
		return &saved.ContextChoice{}, nil
	}
	if err := auth.RequireSelfOrSiteAdmin(c.Actor, user); err != nil {
		return nil, err
	}
	return c.Book.Contexts.Choice(user)
}

// SetDefault chooses the context of searches that name none, for a user and site
// admins. GlobalContext is that of all repositories.
func (c *Contexts) SetDefault(user uint32, spec string) error {
	return c.choose(user, spec, func(choice *saved.ContextChoice, id uint32) { choice.Default = id })
}

// maxStars is how many contexts a user may mark.
const maxStars = 100

// Star marks a context for a user, or takes the mark away.
func (c *Contexts) Star(user uint32, spec string, on bool) error {
	return c.choose(user, spec, func(choice *saved.ContextChoice, id uint32) {
		choice.Starred = slices.DeleteFunc(choice.Starred, func(s uint32) bool { return s == id })
		if on && id != 0 {
			choice.Starred = append(choice.Starred, id)
			choice.Starred = choice.Starred[max(0, len(choice.Starred)-maxStars):]
		}
	})
}

func (c *Contexts) choose(user uint32, spec string, change func(choice *saved.ContextChoice, id uint32)) error {
	if err := auth.RequireSignedIn(c.Actor); err != nil {
		return err
	}
	if err := auth.RequireSelfOrSiteAdmin(c.Actor, user); err != nil {
		return err
	}
	if _, err := c.Registry.User(user); err != nil {
		return noUser(user, err)
	}
	id := uint32(0)
	if spec != GlobalContext {
		v, err := c.Find(spec)
		if err != nil {
			return err
		}
		id = v.ID
	}
	return c.Book.Contexts.Choose(user, func(choice *saved.ContextChoice) { change(choice, id) })
}
