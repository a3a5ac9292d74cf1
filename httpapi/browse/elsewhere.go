package browse

import (
	"context"
	"net/url"
	"path"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/redact"
)

// namedLink is a text that leads to a page, or to none if it has no URL.
type namedLink struct{ Name, URL string }

// linked is the page of what a symbolic link leads to, nil if that is not in the repository:
// links are not followed, so a path through another one is none.
func (p *target) linked(ctx context.Context, to []byte) *namedLink {
	at := path.Join(dirOf(p.path), string(to))
	if len(to) == 0 || len(to) > maxPathBytes || to[0] == '/' || at == ".." || strings.HasPrefix(at, "../") || p.gone != nil {
		return nil
	}
	if at == "." {
		at = ""
	}
	found, ok, err := p.code.At(ctx, p.commit, at)
	if err != nil || !ok || at == p.path || len(at) > maxPathBytes {
		return nil // its text is shown in any case
	}
	out := &namedLink{Name: shown(at), URL: code.BlobURL(p.rec.Name, p.rev, at)}
	if found.Directory() || found.Mode == git.ModeSubmodule {
		out.URL = code.TreeURL(p.rec.Name, p.rev, at)
	}
	if at == "" {
		out.Name = p.rec.Name
	}
	return out
}

// submoduleSource is where the submodule at the path comes from, nil if that is not known.
// Browsers are led to web pages alone, and secrets are left out.
func (p *target) submoduleSource(ctx context.Context) (*namedLink, error) {
	if p.gone != nil {
		return nil, nil
	}
	address, err := p.code.SubmoduleURL(ctx, p.commit, p.path)
	if err != nil || address == "" {
		return nil, err
	}
	address = redact.URL(address)
	out := &namedLink{Name: shown(address)}
	if u, err := url.Parse(address); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && out.Name == address {
		out.URL = address
	}
	return out, nil
}
