package gitlab

import (
	"net/http"
	"strconv"

	gitlab "gitlab.com/gitlab-org/api/client-go"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
)

// TokenHeader has the secret of a webhook, as it is: GitLab signs nothing.
const TokenHeader = "X-Gitlab-Token"

// ReadHook reads a webhook of a project or group of GitLab, or a system hook of all of it.
func ReadHook(secrets []string, header http.Header, body []byte) (codehost.Hook, error) {
	if !codehost.Holds(secrets, header.Get(TokenHeader)) {
		return codehost.Hook{}, codehost.ErrSignature
	}
	kind := gitlab.EventType(header.Get("X-Gitlab-Event"))
	switch kind {
	case gitlab.EventTypePush, gitlab.EventTypeTagPush, gitlab.EventTypeSystemHook, gitlab.EventTypeProject, gitlab.EventTypeSubGroup:
	default:
		return codehost.Hook{}, nil // such as comments
	}
	event, err := gitlab.ParseHook(kind, body)
	if err != nil {
		if kind == gitlab.EventTypeSystemHook {
			return codehost.Hook{}, nil // GitLab makes new ones, which the library does not know
		}
		return codehost.Hook{}, codehost.ErrHook
	}
	switch e := event.(type) {
	case *gitlab.PushEvent:
		return pushed(e.ProjectID)
	case *gitlab.TagEvent:
		return pushed(e.ProjectID)
	case *gitlab.PushSystemEvent:
		return pushed(e.ProjectID)
	case *gitlab.TagPushSystemEvent:
		return pushed(e.ProjectID)
	case *gitlab.RepositoryUpdateSystemEvent:
		return pushed(e.ProjectID)
	case *gitlab.ProjectSystemEvent, *gitlab.ProjectWebhookEvent, *gitlab.SubGroupEvent, *gitlab.GroupSystemEvent:
		return codehost.Hook{Listing: true}, nil
	}
	return codehost.Hook{}, nil
}

func pushed(id int64) (codehost.Hook, error) {
	if id <= 0 {
		return codehost.Hook{}, codehost.ErrHook
	}
	return codehost.Hook{Repositories: []string{strconv.FormatInt(id, 10)}}, nil
}
