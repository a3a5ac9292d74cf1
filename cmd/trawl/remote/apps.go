package remote

import (
	"context"
	"net/http"
	"net/url"

	"github.com/trawlsearch/trawl/httpapi"
)

func appID(id string) url.Values { return url.Values{"id": {id}} }

// Apps returns all OAuth apps.
func (c *Client) Apps(ctx context.Context) (out []httpapi.AdminApp, err error) {
	err = c.send(ctx, http.MethodGet, httpapi.AdminAppsPath, nil, nil, decodeInto(&out))
	return out, err
}

// CreateApp makes an OAuth app; the answer holds its secret.
func (c *Client) CreateApp(ctx context.Context, n httpapi.AdminApp) (out httpapi.AdminApp, err error) {
	err = c.send(ctx, http.MethodPost, httpapi.AdminAppsPath, nil, n, decodeInto(&out))
	return out, err
}

// DisableApp switches an OAuth app off, or on again.
func (c *Client) DisableApp(ctx context.Context, id string, off bool) error {
	return c.send(ctx, http.MethodPatch, httpapi.AdminAppsPath, appID(id), httpapi.AdminAppChange{Disabled: off}, nothing)
}

// DeleteApp deletes an OAuth app.
func (c *Client) DeleteApp(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, httpapi.AdminAppsPath, appID(id), nil, nothing)
}

// RotateAppSecret gives an OAuth app another secret, which the answer holds.
func (c *Client) RotateAppSecret(ctx context.Context, id string) (out httpapi.AdminApp, err error) {
	err = c.send(ctx, http.MethodPost, httpapi.AdminAppsPath+"/secret", appID(id), nil, decodeInto(&out))
	return out, err
}
