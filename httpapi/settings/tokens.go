package settings

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

const tokensPath = "/user/settings/tokens"

// tokens is the section about access tokens.
func (a *Area) tokens() Section {
	const path = "/users/{user}/settings/tokens"
	return Section{Account, web.Link{Title: "Access tokens", Path: tokensPath}, []httpapi.Route{
		{Method: "GET", Path: path, Handler: a.serveTokens, Access: auth.ForUsers},
		{Method: "POST", Path: path, Handler: a.createToken, Access: auth.ForUsers},
		{Method: "POST", Path: path + "/revoke", Handler: a.revokeToken, Access: auth.ForUsers},
	}}
}

// tokensData is what the page about a user's tokens shows.
type tokensData struct {
	notice
	subject
	paging
	Path   string
	Tokens []tokenRow
	// Secret is the text of the token that was just made.
	Secret string
	// Refused says why none can be made, "" if one can.
	Refused string
	// Note, Sudo and Days are what was filled in.
	Note    string
	Sudo    bool
	Days    int
	Choices []int
	// Forever says that a token need not expire.
	Forever bool
}

// tokenRow is a line of the list.
type tokenRow struct {
	*identity.Token
	LastUsed time.Time
	// By is who made it, if that is another.
	By string
}

func (a *Area) serveTokens(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	n := done(r, map[string]string{
		"revoked": "The token is revoked. Whoever still uses it is refused from now on.",
		"created": "The service account is there. It needs a token to search with.",
	})
	return a.tokensPage(w, r, http.StatusOK, tokensData{notice: n, subject: s})
}

// tokensPage fills in what the page shows beside what d has.
func (a *Area) tokensPage(w http.ResponseWriter, r *http.Request, status int, d tokensData) error {
	reg := a.registry()
	policy := reg.TokenPolicy()
	d.Path = a.Server.Path(userPath(d.Name) + "/settings/tokens")
	d.Choices, d.Forever, d.Days = policy.ExpiryDays, policy.NoExpiry, cmp.Or(d.Days, policy.DefaultDays)
	d.Refused = refusal(policy.Allow, d.subject, auth.From(r.Context()).SiteAdmin())
	var err error
	if err = d.list(reg, r); err != nil {
		return err
	}
	return a.serve(w, r, web.View{Page: "tokens.html", Status: status, Here: d.here(tokensPath), Data: d})
}

// refusal says why who asks cannot make a token for a user. The registry
// decides; this is to say so before a form is filled in.
func refusal(mode identity.TokenMode, s subject, admin bool) string {
	switch {
	case mode == identity.TokensNone:
		return "Access tokens are switched off on this server."
	case mode == identity.TokensAdmin && !admin:
		return "Only site admins make access tokens here. Ask one for a token."
	case mode == identity.TokensAll && !s.Self && !s.Service:
		return "People make their own access tokens. For programs, create a service account."
	}
	return ""
}

// list lists the tokens of the user, the newest first.
func (d *tokensData) list(reg *identity.Registry, r *http.Request) error {
	all, err := reg.Tokens(d.ID)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	d.paging = newPaging(r, d.Path, len(all))
	d.Tokens, err = tokenRows(reg, d.ID, shown(d.paging, all))
	return err
}

func tokenRows(reg *identity.Registry, user uint32, all []*identity.Token) (rows []tokenRow, err error) {
	rows = make([]tokenRow, len(all))
	for i, t := range all {
		rows[i].Token = t
		if rows[i].LastUsed, err = reg.TokenLastUsed(t.ID); err != nil && !isGone(err) {
			return nil, err
		}
		if t.Creator == user {
			continue
		}
		switch u, err := reg.User(t.Creator); {
		case err == nil:
			rows[i].By = u.Name
		case isGone(err):
			rows[i].By = "the command line, or a user who is gone"
		default:
			return nil, err
		}
	}
	return rows, nil
}

// createToken makes a token and shows it, once: nothing that can be asked for
// again has it.
func (a *Area) createToken(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	d := tokensData{subject: s, Note: strings.TrimSpace(f.Values["note"]), Sudo: f.Values["sudo"] != ""}
	ask := identity.NewToken{User: s.ID, Note: d.Note, Scopes: []string{identity.ScopeAll}}
	if d.Sudo {
		ask.Scopes = append(ask.Scopes, identity.ScopeSudo)
	}
	if text := f.Values["days"]; text != "never" {
		days, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return &httpapi.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf("the lifetime %q is no number of days", text)}
		}
		d.Days = int(days)
		lifetime := time.Duration(days) * 24 * time.Hour
		ask.Lifetime = &lifetime
	}
	secret, _, err := a.registry().CreateToken(author(r), ask)
	if err != nil {
		status, n, err := problem(w, err)
		if err != nil {
			return err
		}
		d.notice = n
		return a.tokensPage(w, r, status, d)
	}
	return a.tokensPage(w, r, http.StatusOK, tokensData{subject: s, Secret: secret})
}

func (a *Area) revokeToken(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	reg := a.registry()
	id, _ := strconv.ParseUint(f.Values["id"], 10, 32) // 0 is none
	t, err := reg.Token(uint32(id))
	if err == nil && t.User != s.ID || isGone(err) {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "access token not found"}
	}
	if err != nil {
		return err
	}
	// Somebody else may have been faster, and then it is as was asked for.
	if err := reg.RevokeToken(author(r), t.ID); err != nil && !isGone(err) {
		return err
	}
	return a.back(w, r, userPath(s.Name)+"/settings/tokens", "revoked")
}
