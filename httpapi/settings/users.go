package settings

import (
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// usersData is what the list of users shows.
type usersData struct {
	frame
	paging
	Users []userRow
	// Name, Email, Admin and Service are what was filled in.
	Name, Email    string
	Admin, Service bool
}

// userRow is a line of the list.
type userRow struct {
	*identity.User
	Path       string
	LastActive time.Time
}

func (d *usersData) fill(v *visit) error {
	q, all := searchedFor(v.r), []listed{}
	err := v.Registry.EachUser(func(u *identity.User) {
		if matches(q, u.Name, u.DisplayName, u.PrimaryEmail()) {
			all = append(all, listed{strings.ToLower(u.Name), u.ID})
		}
	})
	if err != nil {
		return err
	}
	byName(all)
	d.paging = newPaging(v.r, d.Path, len(all))
	for _, l := range shown(d.paging, all) {
		u, err := v.Registry.User(l.id)
		if isGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		active, err := v.Registry.LastActive(u.ID)
		if err != nil {
			return err
		}
		d.Users = append(d.Users, userRow{u, v.area.Server.Path(adminPath(u.Name)), active})
	}
	return nil
}

// createUser makes a user. A person gets a link by which they choose a
// password, a service account is shown where its tokens are made.
func createUser(v *visit) (answer, error) {
	d := &usersData{Name: v.value("name"), Email: v.value("email"), Admin: v.form.Values["siteAdmin"] != "", Service: v.form.Values["service"] != ""}
	// A site admin answers for the address.
	u, code, err := v.CreateUser(v.r.Context(), identity.NewUser{
		Name: d.Name, Email: d.Email, EmailVerified: d.Email != "", SiteAdmin: d.Admin, Service: d.Service,
	}, "")
	switch {
	case err != nil:
		return answer{data: d}, err
	case u.Service:
		return answer{did: "created", to: userPath(u.Name) + "/settings/tokens"}, nil
	}
	return showLink(v, u, code), nil
}

// adminPath is the page by which site admins change a user.
func adminPath(name string) string { return usersPath + strings.TrimPrefix(userPath(name), "/users") }
