package hosts

import (
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// ReadHook reads a webhook for the service: one of its host, or one of trawl's own form.
// It fails with codehost.ErrSignature for one that no secret of the service has signed.
func (c *Config) ReadHook(header http.Header, body []byte, now time.Time) (codehost.Hook, error) {
	switch {
	case len(c.hookSecrets) == 0:
		return codehost.Hook{}, codehost.ErrSignature
	case header.Get(codehost.GenericSignature) != "" || c.account == nil:
		return codehost.ReadGeneric(c.hookSecrets, header, body, now)
	}
	return c.account.ReadHook(c.hookSecrets, header, body)
}

// TakesHooks reports whether the service has a secret for webhooks.
func (c *Config) TakesHooks() bool { return len(c.hookSecrets) > 0 }
