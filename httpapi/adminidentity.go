package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// The admin routes about who may use the server.
const (
	AdminUsersPath  = "/.api/trawl/users"
	AdminTokensPath = "/.api/trawl/tokens"
	AdminOrgsPath   = "/.api/trawl/organizations"
	AdminAuditPath  = "/.api/trawl/audit"
)

// identityRoutes are those that act on the registry.
func (a *Admin) identityRoutes() []Route {
	if a.Registry == nil {
		return nil
	}
	return []Route{
		{Method: "GET", Path: AdminUsersPath, Handler: a.identity(listUsers)},
		{Method: "POST", Path: AdminUsersPath, Handler: a.identity(createUser)},
		{Method: "PATCH", Path: AdminUsersPath, Handler: a.identity(changeUser)},
		{Method: "DELETE", Path: AdminUsersPath, Handler: a.identity(deleteUser)},
		{Method: "POST", Path: AdminUsersPath + "/password", Handler: a.identity(setPassword)},
		{Method: "GET", Path: AdminTokensPath, Handler: a.identity(listTokens)},
		{Method: "POST", Path: AdminTokensPath, Handler: a.identity(createToken)},
		{Method: "DELETE", Path: AdminTokensPath, Handler: a.identity(revokeToken)},
		{Method: "GET", Path: AdminOrgsPath, Handler: a.identity(listOrgs)},
		{Method: "POST", Path: AdminOrgsPath, Handler: a.identity(createOrg)},
		{Method: "DELETE", Path: AdminOrgsPath, Handler: a.identity(deleteOrg)},
		{Method: "POST", Path: AdminOrgsPath + "/members", Handler: a.identity(addMember)},
		{Method: "DELETE", Path: AdminOrgsPath + "/members", Handler: a.identity(removeMember)},
		{Method: "GET", Path: AdminAuditPath, Handler: a.identity(listAudit)},
		{Method: "GET", Path: AdminPath + "/readers", Handler: a.guard(a.serveReaders)},
		{Method: "PUT", Path: AdminPath + "/readers", Handler: a.identity(setReaders)},
		{Method: "GET", Path: AdminPath + "/pins", Handler: a.identity(listPins)},
		{Method: "PUT", Path: AdminPath + "/pins", Handler: a.identity(declareReaders)},
		{Method: "POST", Path: AdminPath + "/pins", Handler: a.identity(repin)},
	}
}

// identityHandler answers the operator with what it returns, as JSON; nil is
// an empty answer.
type identityHandler func(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error)

func (a *Admin) identity(h identityHandler) Handler {
	return operatorOnly(func(w http.ResponseWriter, r *http.Request) error {
		reg := a.Registry()
		if reg == nil {
			return errStillOpening
		}
		answer, err := h(reg, w, r)
		switch {
		case err != nil:
			return adminError(err)
		case answer == nil:
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return serveJSON(w, answer)
	})
}

// author is who a request is from.
func author(r *http.Request) identity.Author { return auth.From(r.Context()).Author() }

// decodeAdmin reads the body of a request into v, and refuses what v has no
// place for.
func decodeAdmin(w http.ResponseWriter, r *http.Request, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return &Error{Status: http.StatusBadRequest, Message: "the body is not what this route expects: " + err.Error()}
	}
	return nil
}

func listUsers(reg *identity.Registry, _ http.ResponseWriter, _ *http.Request) (any, error) {
	users, err := reg.Users()
	if err != nil {
		return nil, err
	}
	out := make([]AdminUser, len(users))
	for i, u := range users {
		if out[i], err = newAdminUser(reg, u); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func createUser(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var n AdminNewUser
	if err := decodeAdmin(w, r, &n); err != nil {
		return nil, err
	}
	// Before there is a user whose password is refused.
	if n.Password != "" {
		if err := identity.CheckPassword(n.Password); err != nil {
			return nil, err
		}
	}
	// Whoever may read the data directory answers for the address.
	u, err := reg.CreateUser(author(r), identity.NewUser{
		Name: n.Name, DisplayName: n.DisplayName, Email: n.Email, EmailVerified: n.Email != "", SiteAdmin: n.SiteAdmin, Service: n.Service,
	})
	switch {
	case err != nil || n.Service:
		return AdminLink{}, err
	case n.Password == "":
		return resetLink(reg, r, u)
	}
	return AdminLink{}, reg.SetPassword(r.Context(), author(r), u.ID, n.Password)
}

func resetLink(reg *identity.Registry, r *http.Request, u *identity.User) (any, error) {
	code, err := reg.ResetPassword(author(r), u.ID)
	return AdminLink{Path: ResetPath(u.ID, code)}, err
}

// named returns the user whom a parameter names.
func named(reg *identity.Registry, r *http.Request, parameter string) (*identity.User, error) {
	name, err := adminParameter(r, parameter)
	if err != nil {
		return nil, err
	}
	return reg.UserNamed(name)
}

func changeUser(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var c AdminUserChange
	if err := decodeAdmin(w, r, &c); err != nil {
		return nil, err
	}
	u, err := named(reg, r, "name")
	if err != nil {
		return nil, err
	}
	u, err = reg.ChangeUser(author(r), u.ID, identity.UserChange{Name: c.Name, DisplayName: c.DisplayName, SiteAdmin: c.SiteAdmin, Locked: c.Locked})
	if err != nil {
		return nil, err
	}
	return newAdminUser(reg, u)
}

func deleteUser(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	u, err := named(reg, r, "name")
	if err != nil {
		return nil, err
	}
	return nil, reg.DeleteUser(author(r), u.ID)
}

// setPassword sets the password of the body, or answers with a link by which
// the user chooses one.
func setPassword(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var p AdminPassword
	if err := decodeAdmin(w, r, &p); err != nil {
		return nil, err
	}
	u, err := named(reg, r, "name")
	if err != nil {
		return nil, err
	}
	if p.Password == "" {
		return resetLink(reg, r, u)
	}
	return AdminLink{}, reg.SetPassword(r.Context(), author(r), u.ID, p.Password)
}

func listTokens(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	var of uint32
	if r.URL.Query().Get("user") != "" {
		u, err := named(reg, r, "user")
		if err != nil {
			return nil, err
		}
		of = u.ID
	}
	tokens, err := reg.Tokens(of)
	if err != nil {
		return nil, err
	}
	out := make([]AdminToken, len(tokens))
	for i, t := range tokens {
		if out[i], err = newAdminToken(reg, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func createToken(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var n AdminNewToken
	if err := decodeAdmin(w, r, &n); err != nil {
		return nil, err
	}
	u, err := reg.UserNamed(n.User)
	if err != nil {
		return nil, err
	}
	days := reg.TokenPolicy().DefaultDays
	if n.Days != nil {
		days = *n.Days
	}
	lifetime := time.Duration(days) * 24 * time.Hour
	ask := identity.NewToken{User: u.ID, Scopes: n.Scopes, Note: n.Note, Lifetime: &lifetime}
	if n.Forever {
		ask.Lifetime = nil
	}
	text, t, err := reg.CreateToken(author(r), ask)
	if err != nil {
		return nil, err
	}
	out, err := newAdminToken(reg, t)
	out.Secret = text
	return out, err
}

func revokeToken(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	text, err := adminParameter(r, "id")
	if err != nil {
		return nil, err
	}
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return nil, &identity.RuleError{Text: strconv.Quote(text) + " is no number of a token"}
	}
	return nil, reg.RevokeToken(author(r), uint32(id))
}
