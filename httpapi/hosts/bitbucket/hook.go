package bitbucket

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// The headers of both kinds of hosts.
const (
	eventHeader     = "X-Event-Key"
	signatureHeader = "X-Hub-Signature"
)

// eventOf returns the event of a webhook that one of some secrets has signed.
func eventOf(secrets []string, header http.Header, body []byte) (string, error) {
	signature := header.Get(signatureHeader)
	if !strings.HasPrefix(signature, "sha256=") || !codehost.SignedBy(secrets, signature, body) {
		return "", codehost.ErrSignature
	}
	return header.Get(eventHeader), nil
}

// ReadCloudHook reads a webhook of Bitbucket Cloud that one of some secrets has signed.
func ReadCloudHook(secrets []string, header http.Header, body []byte) (codehost.Hook, error) {
	event, err := eventOf(secrets, header, body)
	if err != nil {
		return codehost.Hook{}, err
	}
	var said struct {
		Repository struct {
			UUID string `json:"uuid"`
		} `json:"repository"`
	}
	switch event {
	case "repo:push":
		if json.Unmarshal(body, &said) != nil || said.Repository.UUID == "" {
			return codehost.Hook{}, codehost.ErrHook
		}
		return codehost.Hook{Repositories: []string{said.Repository.UUID}}, nil
	case "repo:fork", "repo:updated", "repo:transfer", "repo:deleted", "repo:created", "repo:imported":
		return codehost.Hook{Listing: true}, nil
	}
	return codehost.Hook{}, nil // such as comments
}

// ReadServerHook reads a webhook of Bitbucket Server that one of some secrets has signed.
func ReadServerHook(secrets []string, header http.Header, body []byte) (codehost.Hook, error) {
	event, err := eventOf(secrets, header, body)
	if err != nil {
		return codehost.Hook{}, err
	}
	var said struct {
		Repository struct {
			ID int64 `json:"id"`
		} `json:"repository"`
	}
	switch event {
	case "repo:refs_changed":
		if json.Unmarshal(body, &said) != nil || said.Repository.ID <= 0 {
			return codehost.Hook{}, codehost.ErrHook
		}
		return codehost.Hook{Repositories: []string{strconv.FormatInt(said.Repository.ID, 10)}}, nil
	case "repo:forked", "repo:modified", "project:modified":
		return codehost.Hook{Listing: true}, nil
	}
	return codehost.Hook{}, nil // such as comments
}
