package git

import (
	"context"
	"strings"
)

// MirrorThrough is Mirror for a URL from an untrusted user. The URL and its
// redirects are reached only through an HTTP proxy that judges addresses. The
// Mirror's Fetch does likewise. The proxy's URL may hold a password; other users
// of the machine do not see it.
func (b *Budget) MirrorThrough(ctx context.Context, proxy, rawURL, dir string, progress func(string)) (*Mirror, error) {
	from, err := guardedRemote(proxy, rawURL)
	if err != nil {
		return nil, err
	}
	return b.mirror(ctx, from, dir, progress)
}

// RenewThrough is Renew for a URL that MirrorThrough is for.
func (b *Budget) RenewThrough(ctx context.Context, proxy, rawURL, dir string, progress func(string)) error {
	from, err := guardedRemote(proxy, rawURL)
	if err != nil {
		return err
	}
	return b.renew(ctx, from, dir, progress)
}

func guardedRemote(proxy, rawURL string) (remote, error) {
	from, err := parseRemote(rawURL)
	if err != nil {
		return remote{}, err
	}
	if from.local || !strings.HasPrefix(from.origin, "http") {
		return remote{}, urlError(rawURL, "only https and http can be used here")
	}
	from.proxy = proxy
	return from, nil
}

// throughProxy is the environment by which git, for whatever host, uses the
// remote's proxy; nil if it has none.
func (r remote) throughProxy() []string {
	if r.proxy == "" {
		return nil
	}
	return []string{
		"http_proxy=" + r.proxy, "https_proxy=" + r.proxy, "HTTPS_PROXY=" + r.proxy, "all_proxy=" + r.proxy, "ALL_PROXY=" + r.proxy,
		"no_proxy=", "NO_PROXY=",
	}
}
