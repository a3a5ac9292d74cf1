package identity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// External is a user as another service knows them that people sign in at.
type External struct {
	// Provider is the name of the service in the settings, Subject what it calls the
	// user for ever.
	Provider, Subject string
	// Name is what the user would like to be called; it may be any text.
	Name, DisplayName string
	// Email is "" unless the service has verified the address.
	Email  string
	Groups []string
}

// ExternalPolicy says what the users of a service get here.
type ExternalPolicy struct {
	// Create makes an account for a user who has none.
	Create bool
	// Link gives a user the account that has the verified address of theirs: the service
	// is trusted with the addresses of all users. It never does so for site admins.
	Link bool
	// Orgs are the names of organisations by the names of groups: a user is a member of
	// those whose group they are in, and of none of the others.
	Orgs map[string]string
}

// externalLink is the account of a user of another service.
type externalLink struct {
	User    uint32    `json:"user"`
	Created time.Time `json:"created"`
}

// ActionLink is the action of the audit log that ties an account to another service.
const ActionLink = "user.link"

// mostSubjectBytes bounds the key of a link.
const mostSubjectBytes = 255

// externalKey is the key of the link of a user. A provider has no slash in its name.
func externalKey(provider, subject string) string { return provider + "/" + subject }

// SignInExternal begins a session for a user whom another service has vouched for. An
// account belongs to the service's own name for the user, and to no name or address that
// the user could change there. The error is a *RuleError if the user has no account here
// and gets none.
func (r *Registry) SignInExternal(ctx context.Context, by Author, x External, p ExternalPolicy) (secret string, u *User, err error) {
	defer func() { r.options().Tried(outcomeOf(err)) }()
	if err := r.CatchUp(ctx); err != nil {
		return "", nil, fmt.Errorf("sign in: %w", err)
	}
	err = r.change(by, func(c *change) error {
		c.by.Via = "sign-in at " + x.Provider
		if u, err = c.external(x, p); err != nil {
			return err
		}
		if err := u.checkEnters(); err != nil {
			return err
		}
		c.by.UserID, c.by.User = u.ID, u.Name
		if err := c.followGroups(u, x.Groups, p.Orgs); err != nil {
			return err
		}
		c.auditUser(ActionSignIn, u, "")
		secret, err = c.newSession(u)
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("sign in by %s: %w", x.Provider, err)
	}
	return secret, u, nil
}

// outcomeOf returns how a sign-in with another service ended.
func outcomeOf(err error) SignInOutcome {
	switch {
	case err == nil:
		return SignInDone
	case errors.As(err, new(*RuleError)):
		return SignInRefused
	}
	return SignInError
}

// external returns the account of a user, and ties or makes it if there is none.
func (c *change) external(x External, p ExternalPolicy) (*User, error) {
	if x.Subject == "" || len(x.Subject) > mostSubjectBytes {
		return nil, refuse("%s names you by nothing that can be kept", x.Provider)
	}
	link, err := externals.Get(c.st, externalKey(x.Provider, x.Subject))
	if err == nil {
		return c.User(link.User)
	}
	if !isNotFound(err) {
		return nil, err
	}
	if !c.used() {
		return nil, refuse("there is no user yet: create the first one, who administers this server")
	}
	var u *User
	if x.Email != "" {
		if u, err = c.UserWithEmail(x.Email); err != nil && !isNotFound(err) {
			return nil, err
		}
	}
	switch {
	case u != nil && (!p.Link || u.SiteAdmin || u.Service):
		return nil, refuse("there is an account with the address %s, which does not sign in by %s: use its password, or ask a site admin", x.Email, x.Provider)
	case u == nil && !p.Create:
		return nil, refuse("you have no account here: ask a site admin")
	case u == nil:
		if u, err = c.createExternal(x); err != nil {
			return nil, err
		}
	}
	c.auditUser(ActionLink, u, "%s, %.100q", x.Provider, x.Subject)
	return u, externals.Put(c.records, externalKey(x.Provider, x.Subject), &externalLink{User: u.ID, Created: c.now})
}

// mostNameTries is how many names are tried for a new user.
const mostNameTries = 20

// createExternal makes an account under a name that nobody has. A name that is taken, or
// reserved by the configuration file, gives no right to the account that has it.
func (c *change) createExternal(x External) (*User, error) {
	name := externalName(x.Name)
	for i := 1; i <= mostNameTries; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s-%d", name, i)
		}
		_, err := names.Get(c.st, nameKey(try))
		if err == nil || c.of.declared.reserves(try) {
			continue
		}
		if !isNotFound(err) {
			return nil, err
		}
		shown := x.DisplayName
		if checkText("the display name", shown, 255) != nil {
			shown = ""
		}
		n := NewUser{Name: try, DisplayName: shown}
		if checkEmail(x.Email) == nil {
			n.Email, n.EmailVerified = x.Email, true
		}
		return c.createUser(n)
	}
	return nil, refuse("the name %q is taken, and so are those like it: ask a site admin for an account", name)
}

// externalName makes a name of what a service calls a user.
func externalName(text string) string {
	text, _, _ = strings.Cut(text, "@")
	words := strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.'
	})
	name := strings.Join(words, "-")
	for part := ""; part != name; {
		part = name
		name = strings.ReplaceAll(strings.Trim(strings.ReplaceAll(name, "..", "."), ".-"), "-.", "-")
		name = strings.ReplaceAll(name, ".-", "-")
	}
	if len(name) > 64 {
		name = strings.Trim(name[:64], ".-")
	}
	if CheckName(name) != nil {
		return "user"
	}
	return name
}

// followGroups makes the user a member of the organisations of their groups, and takes
// them out of those of other groups.
func (c *change) followGroups(u *User, groups []string, orgs map[string]string) error {
	in := map[string]bool{}
	for _, group := range groups {
		if org := orgs[group]; org != "" {
			in[nameKey(org)] = true
		}
	}
	of, err := c.OrgsOf(u.ID)
	if err != nil {
		return err
	}
	var all []string
	for name := range maps.Values(orgs) {
		all = append(all, nameKey(name))
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		id, err := c.owner(name, nameOfOrg)
		if isNotFound(err) {
			continue // a site admin has not made it yet
		}
		if err != nil {
			return err
		}
		switch is := slices.Contains(of, id); {
		case in[name] && !is:
			if err := c.addMember(id, u.ID); err != nil {
				return err
			}
			c.audit(ActionMemberAdd, orgTarget(name), "%s", userTarget(u.Name))
		case !in[name] && is:
			c.removeMember(id, u.ID)
			c.audit(ActionMemberRemove, orgTarget(name), "%s", userTarget(u.Name))
		}
	}
	return nil
}

// forgetExternals deletes the links of a user.
func (c *change) forgetExternals(user uint32) error {
	return externals.Each(c.st, store.RecordRange{}, c.TellDamaged, func(key string, l *externalLink) (bool, error) {
		if l.User == user {
			externals.Delete(c.records, key)
		}
		return true, nil
	})
}

// checkExternal refuses a link of no user.
func checkExternal(key string, l *externalLink) error {
	if l.User == 0 || !strings.Contains(key, "/") {
		return errors.New("it leads to no user")
	}
	return nil
}
