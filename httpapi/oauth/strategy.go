package oauth

import (
	"context"
	"errors"

	"github.com/ory/fosite"

	kept "github.com/trawlsearch/trawl/store/oauth"
)

// strategy makes the texts of codes and tokens, and reads them. Their
// signature, as the library calls it, is the text of a kept.Key. The storage,
// which has the clock, decides whether they are valid.
type strategy struct{ *Server }

var errNoGrantID = errors.New("the request has no grant")

// make makes a text for the grant of a request.
func (s strategy) make(kind kept.Kind, r fosite.Requester) (text, signature string, err error) {
	grant, ok := kept.ParseGrantID(r.GetID())
	if !ok {
		return "", "", errNoGrantID
	}
	if text, err = s.Book().Grants.NewText(kind, grant); err != nil {
		return "", "", err
	}
	return text, signatureOf(kind, text), nil
}

// signatureOf is "" for what is no such text.
func signatureOf(kind kept.Kind, text string) string {
	k, ok := kept.ParseText(kind, text)
	if !ok {
		return ""
	}
	return k.String()
}

func (s strategy) GenerateAuthorizeCode(_ context.Context, r fosite.Requester) (text, signature string, err error) {
	return s.make(kept.CodeText, r)
}

func (s strategy) AuthorizeCodeSignature(_ context.Context, text string) string {
	return signatureOf(kept.CodeText, text)
}

func (s strategy) ValidateAuthorizeCode(context.Context, fosite.Requester, string) error { return nil }

func (s strategy) GenerateAccessToken(_ context.Context, r fosite.Requester) (text, signature string, err error) {
	return s.make(kept.AccessText, r)
}

func (s strategy) AccessTokenSignature(_ context.Context, text string) string {
	return signatureOf(kept.AccessText, text)
}

func (s strategy) ValidateAccessToken(context.Context, fosite.Requester, string) error { return nil }

// GenerateRefreshToken makes the first of a grant, or the one that follows the
// one of the request.
func (s strategy) GenerateRefreshToken(_ context.Context, r fosite.Requester) (text, signature string, err error) {
	old := r.GetRequestForm().Get("refresh_token")
	if old == "" {
		return s.make(kept.RefreshText, r)
	}
	if text, err = s.Book().Grants.NextRefresh(old); err != nil {
		return "", "", err
	}
	return text, signatureOf(kept.RefreshText, text), nil
}

func (s strategy) RefreshTokenSignature(_ context.Context, text string) string {
	return signatureOf(kept.RefreshText, text)
}

func (s strategy) ValidateRefreshToken(context.Context, fosite.Requester, string) error { return nil }
