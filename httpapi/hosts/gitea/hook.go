package gitea

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// ReadHook reads a webhook of Gitea or Forgejo that one of some secrets has signed.
func ReadHook(secrets []string, header http.Header, body []byte) (codehost.Hook, error) {
	signature, event := header.Get("X-Gitea-Signature"), header.Get("X-Gitea-Event")
	if signature == "" {
		signature, event = header.Get("X-Forgejo-Signature"), header.Get("X-Forgejo-Event")
	}
	if !codehost.SignedBy(secrets, signature, body) {
		return codehost.Hook{}, codehost.ErrSignature
	}
	// The library has no types of these bodies.
	var said struct {
		Repository struct {
			ID int64 `json:"id"`
		} `json:"repository"`
	}
	switch event {
	case "push", "create", "delete":
		if json.Unmarshal(body, &said) != nil || said.Repository.ID <= 0 {
			return codehost.Hook{}, codehost.ErrHook
		}
		return codehost.Hook{Repositories: []string{strconv.FormatInt(said.Repository.ID, 10)}}, nil
	case "repository", "fork":
		return codehost.Hook{Listing: true}, nil
	}
	return codehost.Hook{}, nil // such as comments
}
