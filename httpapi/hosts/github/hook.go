package github

import (
	"net/http"
	"strconv"

	"github.com/google/go-github/v75/github"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// ReadHook reads a webhook of GitHub that one of some secrets has signed.
func ReadHook(secrets []string, header http.Header, body []byte) (codehost.Hook, error) {
	if !codehost.SignedBy(secrets, header.Get(github.SHA256SignatureHeader), body) {
		return codehost.Hook{}, codehost.ErrSignature
	}
	event, err := github.ParseWebHook(header.Get(github.EventTypeHeader), body)
	if err != nil || event == nil {
		return codehost.Hook{}, codehost.ErrHook
	}
	switch e := event.(type) {
	case *github.PushEvent:
		return pushed(e.GetRepo().GetID())
	case *github.CreateEvent:
		return pushed(e.GetRepo().GetID())
	case *github.DeleteEvent:
		return pushed(e.GetRepo().GetID())
	case *github.RepositoryEvent, *github.PublicEvent, *github.StarEvent, *github.InstallationRepositoriesEvent, *github.OrganizationEvent, *github.MembershipEvent:
		return codehost.Hook{Listing: true}, nil
	}
	return codehost.Hook{}, nil // such as ping
}

func pushed(id int64) (codehost.Hook, error) {
	if id <= 0 {
		return codehost.Hook{}, codehost.ErrHook
	}
	return codehost.Hook{Repositories: []string{strconv.FormatInt(id, 10)}}, nil
}
