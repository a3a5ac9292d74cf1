package admin

import (
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
)

func (h *Handlers) accountRoutes() []httpapi.Route {
	return append(h.readerRoutes(),
		answer(h, ListUsers, func(c *call, _ None) ([]User, error) {
			all, err := c.Registry.Users()
			return each(all, err, c.user)
		}),
		answer(h, CreateUser, func(c *call, in NewUser) (Link, error) {
			// The operator answers for the address.
			u, code, err := c.CreateUser(c.r.Context(), identity.NewUser{
				Name: in.Name, DisplayName: in.DisplayName, Email: in.Email, EmailVerified: in.Email != "", SiteAdmin: in.SiteAdmin, Service: in.Service,
			}, in.Password)
			return sent(u, err, func(u *identity.User) Link { return newLink(u, code) })
		}),
		answer(h, ChangeUser, onUser(func(c *call, u *identity.User, in UserChange) (User, error) {
			u, err := c.ChangeUser(u.ID, identity.UserChange{Name: in.Name, DisplayName: in.DisplayName, SiteAdmin: in.SiteAdmin, Locked: in.Locked})
			if err != nil {
				return User{}, err
			}
			return c.user(u)
		})),
		answer(h, DeleteUser, onUser(func(c *call, u *identity.User, _ None) (None, error) { return None{}, c.DeleteUser(u.ID) })),
		answer(h, SetPassword, onUser(func(c *call, u *identity.User, in Password) (Link, error) {
			code, err := c.SetPassword(c.r.Context(), u.ID, in.Password)
			return newLink(u, code), err
		})),
		answer(h, ListTokens, listTokens),
		answer(h, CreateToken, createToken),
		answer(h, RevokeToken, revokeToken),
		answer(h, ListOrgs, func(c *call, _ None) ([]Org, error) {
			all, err := c.Registry.Orgs()
			return each(all, err, c.org)
		}),
		answer(h, CreateOrg, func(c *call, in Org) (Org, error) {
			o, err := c.CreateOrg(in.Name, in.DisplayName)
			if err != nil {
				return Org{}, err
			}
			return c.org(o)
		}),
		answer(h, DeleteOrg, onOrg(func(c *call, o *identity.Org) error { return c.DeleteOrg(o.ID) })),
		answer(h, AddMember, onOrg(func(c *call, o *identity.Org) error {
			u, err := c.named("user")
			if err != nil {
				return err
			}
			return c.AddMember(o.ID, u.Name)
		})),
		answer(h, RemoveMember, onOrg(func(c *call, o *identity.Org) error {
			u, err := c.named("user")
			if err != nil {
				return err
			}
			return c.RemoveMember(o.ID, u.ID)
		})),
		answer(h, ListAudit, listAudit),
	)
}

// named returns the user whom a parameter names.
func (c *call) named(parameter string) (*identity.User, error) {
	name, err := c.parameter(parameter)
	if err != nil {
		return nil, err
	}
	return c.Registry.UserNamed(name)
}

// userID is that of the user whom the parameter user names, 0 without it.
func (c *call) userID() (uint32, error) {
	if c.r.URL.Query().Get("user") == "" {
		return 0, nil
	}
	u, err := c.named("user")
	if err != nil {
		return 0, err
	}
	return u.ID, nil
}

// onUser has do act on the user whom the parameter name names.
func onUser[In, Out any](do func(c *call, u *identity.User, in In) (Out, error)) func(c *call, in In) (Out, error) {
	return func(c *call, in In) (out Out, err error) {
		u, err := c.named("name")
		if err != nil {
			return out, err
		}
		return do(c, u, in)
	}
}

// onOrg has do act on the organisation that the parameter name names.
func onOrg(do func(c *call, o *identity.Org) error) func(c *call, _ None) (None, error) {
	return func(c *call, _ None) (None, error) {
		name, err := c.parameter("name")
		if err != nil {
			return None{}, err
		}
		o, err := c.Registry.OrgNamed(name)
		if err != nil {
			return None{}, err
		}
		return None{}, do(c, o)
	}
}

func (c *call) user(u *identity.User) (User, error) {
	d, err := c.Details(u.ID, 0)
	return User{
		ID: u.ID, Name: u.Name, DisplayName: u.DisplayName, Emails: u.Emails, SiteAdmin: u.SiteAdmin, Service: u.Service, Locked: u.Locked,
		Created: u.Created, HasPassword: d.HasPassword, LastActive: d.LastActive, Organizations: d.Organizations,
	}, err
}

func (c *call) org(o *identity.Org) (Org, error) {
	members, _, err := c.MemberNames(o.ID, 0)
	return Org{ID: o.ID, Name: o.Name, DisplayName: o.DisplayName, Created: o.Created, Members: members}, err
}

func (c *call) token(t manage.Token) (Token, error) {
	u, err := c.Registry.User(t.User)
	if err != nil {
		return Token{}, err
	}
	return Token{
		ID: t.ID, User: u.Name, Scopes: t.Scopes, Note: t.Note, Created: t.Created, LastUsed: t.LastUsed, Expires: t.Expires,
	}, nil
}

// newLink leads to where a user chooses a password, nowhere without a code.
func newLink(u *identity.User, code string) Link {
	if code == "" {
		return Link{}
	}
	return Link{Path: httpapi.ResetPath(u.ID, code)}
}

func listTokens(c *call, _ None) ([]Token, error) {
	of, err := c.userID()
	if err != nil {
		return nil, err
	}
	all, err := c.Tokens(of)
	return each(all, err, c.token)
}

func createToken(c *call, in NewToken) (Token, error) {
	u, err := c.Registry.UserNamed(in.User)
	if err != nil {
		return Token{}, err
	}
	ask := identity.NewToken{User: u.ID, Scopes: in.Scopes, Note: in.Note}
	switch {
	case in.Forever:
	case in.Days != nil:
		ask.Lifetime = manage.Lifetime(*in.Days)
	default:
		ask.Lifetime = manage.Lifetime(c.Registry.TokenPolicy().DefaultDays)
	}
	text, t, err := c.CreateToken(ask)
	if err != nil {
		return Token{}, err
	}
	out, err := c.token(manage.Token{Token: t})
	out.Secret = text
	return out, err
}

func revokeToken(c *call, _ None) (None, error) {
	text, err := c.parameter("id")
	if err != nil {
		return None{}, err
	}
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return None{}, &identity.RuleError{Text: strconv.Quote(text) + " is no number of a token"}
	}
	return None{}, c.RevokeToken(uint32(id))
}

func listAudit(c *call, _ None) ([]Entry, error) {
	user, err := c.userID()
	if err != nil {
		return nil, err
	}
	q, f := c.r.URL.Query(), identity.AuditFilter{User: user}
	if text := q.Get("since"); text != "" {
		if f.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, &identity.RuleError{Text: "since is no time: " + err.Error()}
		}
	}
	if text := q.Get("limit"); text != "" {
		if f.Limit, err = strconv.Atoi(text); err != nil || f.Limit < 1 {
			return nil, &identity.RuleError{Text: strconv.Quote(text) + " is no number of entries"}
		}
	}
	entries, err := c.Registry.Audit(f)
	return each(entries, err, func(e identity.Entry) (Entry, error) { return Entry{e.ID, e}, nil })
}
