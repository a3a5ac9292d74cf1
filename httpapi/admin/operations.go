package admin

import "net/http"

// Where the routes of the operator are. A parameter names a repository, a user or
// an app, since names may hold slashes.
const (
	RepositoriesPath = "/.api/trawl/repositories"
	UsersPath        = "/.api/trawl/users"
	TokensPath       = "/.api/trawl/tokens"
	OrgsPath         = "/.api/trawl/organizations"
	AuditPath        = "/.api/trawl/audit"
	AppsPath         = "/.api/trawl/oauth-apps"
	BackupsPath      = "/.api/trawl/backups"
	CheckPath        = "/.api/trawl/check"
	StatusPath       = "/.api/trawl/status"
)

// Operation is a route: In is what its body holds, Out what it answers.
type Operation[In, Out any] struct{ Method, Path string }

// None is no body, or no answer.
type None struct{}

// Lines is an answer that takes its time: it leaves Line by Line.
type Lines struct{}

// The operations on repositories. All but AddRepository take the parameter name;
// without it ListRepositories and ListPins answer with all.
var (
	ListRepositories = Operation[None, []Repository]{http.MethodGet, RepositoriesPath}
	AddRepository    = Operation[Add, Repository]{http.MethodPost, RepositoriesPath}
	RemoveRepository = Operation[None, None]{http.MethodDelete, RepositoriesPath}
	ChangeFacts      = Operation[Facts, Repository]{http.MethodPatch, RepositoriesPath}
	SyncRepository   = Operation[None, Lines]{http.MethodPost, RepositoriesPath + "/sync"}
	Reindex          = Operation[None, Lines]{http.MethodPost, RepositoriesPath + "/reindex"}
	ListSkipped      = Operation[None, Lines]{http.MethodGet, RepositoriesPath + "/skipped"}
	ListReaders      = Operation[None, []string]{http.MethodGet, RepositoriesPath + "/readers"}
	SetReaders       = Operation[[]string, []string]{http.MethodPut, RepositoriesPath + "/readers"}
	ListPins         = Operation[None, []Pin]{http.MethodGet, RepositoriesPath + "/pins"}
	DeclareReaders   = Operation[[]string, []Pin]{http.MethodPut, RepositoriesPath + "/pins"}
	Repin            = Operation[Pin, Pin]{http.MethodPost, RepositoriesPath + "/pins"}
)

// The operations on users and organisations, which the parameter name names.
// Members and tokens have a parameter user besides; a token is revoked by its id.
var (
	ListUsers    = Operation[None, []User]{http.MethodGet, UsersPath}
	CreateUser   = Operation[NewUser, Link]{http.MethodPost, UsersPath}
	ChangeUser   = Operation[UserChange, User]{http.MethodPatch, UsersPath}
	DeleteUser   = Operation[None, None]{http.MethodDelete, UsersPath}
	SetPassword  = Operation[Password, Link]{http.MethodPost, UsersPath + "/password"}
	ListTokens   = Operation[None, []Token]{http.MethodGet, TokensPath}
	CreateToken  = Operation[NewToken, Token]{http.MethodPost, TokensPath}
	RevokeToken  = Operation[None, None]{http.MethodDelete, TokensPath}
	ListOrgs     = Operation[None, []Org]{http.MethodGet, OrgsPath}
	CreateOrg    = Operation[Org, Org]{http.MethodPost, OrgsPath}
	DeleteOrg    = Operation[None, None]{http.MethodDelete, OrgsPath}
	AddMember    = Operation[None, None]{http.MethodPost, OrgsPath + "/members"}
	RemoveMember = Operation[None, None]{http.MethodDelete, OrgsPath + "/members"}
)

// ListAudit takes the parameters limit, since and user, any of which may be left
// out; it answers with the newest entry first.
var ListAudit = Operation[None, []Entry]{http.MethodGet, AuditPath}

// The operations on OAuth apps. The parameter id is the client ID.
var (
	ListApps        = Operation[None, []App]{http.MethodGet, AppsPath}
	CreateApp       = Operation[App, App]{http.MethodPost, AppsPath}
	ChangeApp       = Operation[AppChange, None]{http.MethodPatch, AppsPath}
	DeleteApp       = Operation[None, None]{http.MethodDelete, AppsPath}
	RotateAppSecret = Operation[None, App]{http.MethodPost, AppsPath + "/secret"}
)

// The operations on the data directory. The parameters quick and repair say how it
// is checked.
var (
	MakeBackup = Operation[Backup, Lines]{http.MethodPost, BackupsPath}
	CheckData  = Operation[None, Lines]{http.MethodPost, CheckPath}
	ReadStatus = Operation[None, Status]{http.MethodGet, StatusPath}
)
