package wire

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// The kinds that global ids name.
const (
	KindUser            = "User"
	KindOrg             = "Org"
	KindSite            = "Site"
	KindDefaultSettings = "DefaultSettings"
	KindRepository      = "Repository"
	KindCommit          = "GitCommit"
	KindRef             = "GitRef"
	KindContext         = "SearchContext"
	KindToken           = "AccessToken"
	KindService         = "ExternalService"
	KindSavedSearch     = "SavedSearch"
	KindSearchJob       = "SearchJob"
)

// NewID returns the global id of an entity: the base64 of its kind, a colon
// and its key as JSON. Clients paste ids from one command to the next, and
// some take them apart.
func NewID(kind string, key any) graphql.ID {
	text, err := json.Marshal(key)
	if err != nil {
		panic("graphql: key of an id: " + err.Error())
	}
	return graphql.ID(base64.StdEncoding.EncodeToString(append([]byte(kind+":"), text...)))
}

// KindOf returns the kind of an id, "" for one that is malformed.
func KindOf(id graphql.ID) string {
	kind, _, _ := splitID(id)
	return kind
}

func splitID(id graphql.ID) (kind, key string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(string(id))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(raw), ":")
}

// ErrID says that an id is none.
var ErrID = &Refusal{"invalid id"}

// ReadID reads the key of an id of one kind.
func ReadID(id graphql.ID, kind string, key any) error {
	found, text, ok := splitID(id)
	if !ok || found != kind || json.Unmarshal([]byte(text), key) != nil {
		return ErrID
	}
	return nil
}

// NumberOf reads the number of an id of one kind.
func NumberOf(id graphql.ID, kind string) (uint32, error) {
	var n uint32
	return n, ReadID(id, kind, &n)
}

// OrNone makes a nil pointer nothing at all.
func OrNone[T any](v *T, err error) (any, error) {
	if err != nil || v == nil {
		return nil, err
	}
	return v, nil
}
