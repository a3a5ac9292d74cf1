package remote

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
)

func named(name string) url.Values { return url.Values{"name": {name}} }

// Users returns all users.
func (c *Client) Users(ctx context.Context) (out []httpapi.AdminUser, err error) {
	err = c.send(ctx, http.MethodGet, httpapi.AdminUsersPath, nil, nil, decodeInto(&out))
	return out, err
}

// CreateUser makes a user.
func (c *Client) CreateUser(ctx context.Context, n httpapi.AdminNewUser) (out httpapi.AdminLink, err error) {
	err = c.send(ctx, http.MethodPost, httpapi.AdminUsersPath, nil, n, decodeInto(&out))
	return out, err
}

// ChangeUser changes a user and returns how it is then.
func (c *Client) ChangeUser(ctx context.Context, name string, uc httpapi.AdminUserChange) (out httpapi.AdminUser, err error) {
	err = c.send(ctx, http.MethodPatch, httpapi.AdminUsersPath, named(name), uc, decodeInto(&out))
	return out, err
}

// DeleteUser deletes a user.
func (c *Client) DeleteUser(ctx context.Context, name string) error {
	return c.send(ctx, http.MethodDelete, httpapi.AdminUsersPath, named(name), nil, nothing)
}

// SetPassword gives a user a password, or for none takes it away and returns a
// link by which they choose one.
func (c *Client) SetPassword(ctx context.Context, name, password string) (out httpapi.AdminLink, err error) {
	err = c.send(ctx, http.MethodPost, httpapi.AdminUsersPath+"/password", named(name), httpapi.AdminPassword{Password: password}, decodeInto(&out))
	return out, err
}

// Tokens returns the access tokens of a user, of all for "".
func (c *Client) Tokens(ctx context.Context, user string) (out []httpapi.AdminToken, err error) {
	parameters := url.Values{}
	if user != "" {
		parameters.Set("user", user)
	}
	err = c.send(ctx, http.MethodGet, httpapi.AdminTokensPath, parameters, nil, decodeInto(&out))
	return out, err
}

// CreateToken makes an access token; the answer holds its secret.
func (c *Client) CreateToken(ctx context.Context, n httpapi.AdminNewToken) (out httpapi.AdminToken, err error) {
	err = c.send(ctx, http.MethodPost, httpapi.AdminTokensPath, nil, n, decodeInto(&out))
	return out, err
}

// RevokeToken revokes the access token with a number.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, httpapi.AdminTokensPath, url.Values{"id": {id}}, nil, nothing)
}

// Orgs returns all organisations.
func (c *Client) Orgs(ctx context.Context) (out []httpapi.AdminOrg, err error) {
	err = c.send(ctx, http.MethodGet, httpapi.AdminOrgsPath, nil, nil, decodeInto(&out))
	return out, err
}

// CreateOrg makes an organisation.
func (c *Client) CreateOrg(ctx context.Context, name, displayName string) (out httpapi.AdminOrg, err error) {
	err = c.send(ctx, http.MethodPost, httpapi.AdminOrgsPath, nil, httpapi.AdminOrg{Name: name, DisplayName: displayName}, decodeInto(&out))
	return out, err
}

// DeleteOrg deletes an organisation.
func (c *Client) DeleteOrg(ctx context.Context, name string) error {
	return c.send(ctx, http.MethodDelete, httpapi.AdminOrgsPath, named(name), nil, nothing)
}

// AddMember makes a user a member of an organisation.
func (c *Client) AddMember(ctx context.Context, org, user string) error {
	return c.member(ctx, http.MethodPost, org, user)
}

// RemoveMember takes a user out of an organisation.
func (c *Client) RemoveMember(ctx context.Context, org, user string) error {
	return c.member(ctx, http.MethodDelete, org, user)
}

func (c *Client) member(ctx context.Context, method, org, user string) error {
	return c.send(ctx, method, httpapi.AdminOrgsPath+"/members", url.Values{"name": {org}, "user": {user}}, nil, nothing)
}

// Readers returns who may see a repository.
func (c *Client) Readers(ctx context.Context, repository string) (out []string, err error) {
	err = c.call(ctx, http.MethodGet, "/readers", repository, nil, decodeInto(&out))
	return out, err
}

// SetReaders says who may see a repository, and returns it as it is then.
func (c *Client) SetReaders(ctx context.Context, repository string, readers []string) (out []string, err error) {
	err = c.call(ctx, http.MethodPut, "/readers", repository, readers, decodeInto(&out))
	return out, err
}

// DeclareReaders says who may see a repository as the configuration file does, and
// returns what the names stand for.
func (c *Client) DeclareReaders(ctx context.Context, repository string, readers []string) (out []httpapi.AdminPin, err error) {
	err = c.call(ctx, http.MethodPut, "/pins", repository, readers, decodeInto(&out))
	return out, err
}

// Pins returns what the names of the configuration file stand for: those of a
// repository, or all for "".
func (c *Client) Pins(ctx context.Context, repository string) (out []httpapi.AdminPin, err error) {
	err = c.call(ctx, http.MethodGet, "/pins", repository, nil, decodeInto(&out))
	return out, err
}

// Repin has a reader of the configuration file stand for the account that has the
// name now.
func (c *Client) Repin(ctx context.Context, reader string) (out httpapi.AdminPin, err error) {
	err = c.call(ctx, http.MethodPost, "/pins", "", httpapi.AdminPin{Reader: reader}, decodeInto(&out))
	return out, err
}

// Audit returns at most limit entries of the audit log since a moment, newest
// first, of one user unless it is "".
func (c *Client) Audit(ctx context.Context, since time.Time, user string, limit int) (out []httpapi.AdminEntry, err error) {
	parameters := url.Values{"limit": {strconv.Itoa(limit)}}
	if !since.IsZero() {
		parameters.Set("since", since.UTC().Format(time.RFC3339Nano))
	}
	if user != "" {
		parameters.Set("user", user)
	}
	err = c.send(ctx, http.MethodGet, httpapi.AdminAuditPath, parameters, nil, decodeInto(&out))
	return out, err
}
