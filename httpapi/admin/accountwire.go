package admin

import (
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// What the admin routes about users read and write.
type (
	// User tells about one user.
	User struct {
		ID            uint32           `json:"id"`
		Name          string           `json:"name"`
		DisplayName   string           `json:"displayName,omitempty"`
		Emails        []identity.Email `json:"emails,omitempty"`
		SiteAdmin     bool             `json:"siteAdmin,omitempty"`
		Service       bool             `json:"service,omitempty"`
		Locked        bool             `json:"locked,omitempty"`
		HasPassword   bool             `json:"hasPassword,omitempty"`
		Organizations []string         `json:"organizations,omitempty"`
		Created       time.Time        `json:"created"`
		LastActive    time.Time        `json:"lastActive,omitzero"`
	}

	// NewUser is the body of a request to create a user. Without a
	// password the answer has a link by which they choose one.
	NewUser struct {
		Name        string `json:"name"`
		DisplayName string `json:"displayName,omitempty"`
		Email       string `json:"email,omitempty"`
		Password    string `json:"password,omitempty"`
		SiteAdmin   bool   `json:"siteAdmin,omitempty"`
		Service     bool   `json:"service,omitempty"`
	}

	// UserChange is the body of a request to change a user; what it leaves
	// out stays.
	UserChange struct {
		Name        *string `json:"name,omitempty"`
		DisplayName *string `json:"displayName,omitempty"`
		SiteAdmin   *bool   `json:"siteAdmin,omitempty"`
		Locked      *bool   `json:"locked,omitempty"`
	}

	// Password is the body of a request to set a password; without one a
	// link is made.
	Password struct {
		Password string `json:"password,omitempty"`
	}

	// Link leads to the page where a user chooses a password. Path is below
	// the server's URL, "" where no link was needed.
	Link struct {
		Path string `json:"path,omitempty"`
	}

	// Token tells about one access token. Secret is its text, in the answer
	// to its creation only.
	Token struct {
		ID       uint32    `json:"id"`
		User     string    `json:"user"`
		Scopes   []string  `json:"scopes"`
		Note     string    `json:"note,omitempty"`
		Created  time.Time `json:"created"`
		LastUsed time.Time `json:"lastUsed,omitzero"`
		Expires  time.Time `json:"expires,omitzero"`
		Secret   string    `json:"secret,omitempty"`
	}

	// NewToken is the body of a request to create a token, for Days, which
	// is the policy's default if nil, or forever.
	NewToken struct {
		User    string   `json:"user"`
		Scopes  []string `json:"scopes"`
		Note    string   `json:"note,omitempty"`
		Days    *int     `json:"days,omitempty"`
		Forever bool     `json:"forever,omitempty"`
	}

	// Org tells about one organisation; members are user names.
	Org struct {
		ID          uint32    `json:"id,omitempty"`
		Name        string    `json:"name"`
		DisplayName string    `json:"displayName,omitempty"`
		Members     []string  `json:"members,omitempty"`
		Created     time.Time `json:"created,omitzero"`
	}

	// Entry is a line of the audit log.
	Entry struct {
		ID uint64 `json:"id"`
		identity.Entry
	}
)
