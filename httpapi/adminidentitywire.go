package httpapi

import (
	"errors"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// What the admin routes about users read and write.
type (
	// AdminUser tells about one user.
	AdminUser struct {
		ID            uint32           `json:"id"`
		Name          string           `json:"name"`
		DisplayName   string           `json:"displayName,omitempty"`
		Emails        []identity.Email `json:"emails,omitempty"`
		SiteAdmin     bool             `json:"siteAdmin,omitempty"`
		Service       bool             `json:"service,omitempty"`
		Locked        bool             `json:"locked,omitempty"`
		HasPassword   bool             `json:"hasPassword,omitempty"`
		Organizations []string         `json:"organizations,omitempty"`
		Created       time.Time        `json:"created"`
		LastActive    time.Time        `json:"lastActive,omitzero"`
	}

	// AdminNewUser is the body of a request to create a user. Without a
	// password the answer has a link by which they choose one.
	AdminNewUser struct {
		Name        string `json:"name"`
		DisplayName string `json:"displayName,omitempty"`
		Email       string `json:"email,omitempty"`
		Password    string `json:"password,omitempty"`
		SiteAdmin   bool   `json:"siteAdmin,omitempty"`
		Service     bool   `json:"service,omitempty"`
	}

	// AdminUserChange is the body of a request to change a user; what it leaves
	// out stays.
	AdminUserChange struct {
		Name        *string `json:"name,omitempty"`
		DisplayName *string `json:"displayName,omitempty"`
		SiteAdmin   *bool   `json:"siteAdmin,omitempty"`
		Locked      *bool   `json:"locked,omitempty"`
	}

	// AdminPassword is the body of a request to set a password; without one a
	// link is made.
	AdminPassword struct {
		Password string `json:"password,omitempty"`
	}

	// AdminLink leads to the page where a user chooses a password. Path is below
	// the server's URL, "" where no link was needed.
	AdminLink struct {
		Path string `json:"path,omitempty"`
	}

	// AdminToken tells about one access token. Secret is its text, in the answer
	// to its creation only.
	AdminToken struct {
		ID       uint32    `json:"id"`
		User     string    `json:"user"`
		Scopes   []string  `json:"scopes"`
		Note     string    `json:"note,omitempty"`
		Created  time.Time `json:"created"`
		LastUsed time.Time `json:"lastUsed,omitzero"`
		Expires  time.Time `json:"expires,omitzero"`
		Secret   string    `json:"secret,omitempty"`
	}

	// AdminNewToken is the body of a request to create a token, for Days, which
	// is the policy's default if nil, or forever.
	AdminNewToken struct {
		User    string   `json:"user"`
		Scopes  []string `json:"scopes"`
		Note    string   `json:"note,omitempty"`
		Days    *int     `json:"days,omitempty"`
		Forever bool     `json:"forever,omitempty"`
	}

	// AdminOrg tells about one organisation; members are user names.
	AdminOrg struct {
		ID          uint32    `json:"id,omitempty"`
		Name        string    `json:"name"`
		DisplayName string    `json:"displayName,omitempty"`
		Members     []string  `json:"members,omitempty"`
		Created     time.Time `json:"created,omitzero"`
	}

	// AdminEntry is a line of the audit log.
	AdminEntry struct {
		ID uint64 `json:"id"`
		identity.Entry
	}
)

func newAdminUser(reg *identity.Registry, u *identity.User) (AdminUser, error) {
	out := AdminUser{
		ID: u.ID, Name: u.Name, DisplayName: u.DisplayName, Emails: u.Emails,
		SiteAdmin: u.SiteAdmin, Service: u.Service, Locked: u.Locked, Created: u.Created,
	}
	var err error
	if out.HasPassword, err = reg.HasPassword(u.ID); err != nil {
		return out, err
	}
	if out.LastActive, err = reg.LastActive(u.ID); err != nil {
		return out, err
	}
	orgs, err := reg.OrgsOf(u.ID)
	if err != nil {
		return out, err
	}
	for _, id := range orgs {
		switch o, err := reg.Org(id); {
		case err == nil:
			out.Organizations = append(out.Organizations, o.Name)
		case !errors.Is(err, store.ErrNotFound): // gone meanwhile
			return out, err
		}
	}
	return out, nil
}

func newAdminToken(reg *identity.Registry, t *identity.Token) (AdminToken, error) {
	out := AdminToken{ID: t.ID, Scopes: t.Scopes, Note: t.Note, Created: t.Created, Expires: t.Expires}
	u, err := reg.User(t.User)
	if err != nil {
		return out, err
	}
	out.User = u.Name
	out.LastUsed, err = reg.TokenLastUsed(t.ID)
	return out, err
}

func newAdminOrg(reg *identity.Registry, o *identity.Org) (AdminOrg, error) {
	out := AdminOrg{ID: o.ID, Name: o.Name, DisplayName: o.DisplayName, Created: o.Created}
	members, err := reg.Members(o.ID)
	if err != nil {
		return out, err
	}
	for _, id := range members {
		switch u, err := reg.User(id); {
		case err == nil:
			out.Members = append(out.Members, u.Name)
		case !errors.Is(err, store.ErrNotFound):
			return out, err
		}
	}
	return out, nil
}
