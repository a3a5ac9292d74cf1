package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
)

// tokensData is what the page about a user's tokens shows.
type tokensData struct {
	frame
	paging
	Tokens []tokenRow
	// Secret is the text of the token that was just made.
	Secret string
	// Refused says why none can be made, "" if one can.
	Refused string
	// Note, Agents, Sudo and Days are what was filled in. Agents is for tokens of agents
	// only.
	Note    string
	Agents  bool
	Sudo    bool
	Days    int
	Choices []int
	// Forever says that a token need not expire.
	Forever bool
}

// tokenRow is a line of the list.
type tokenRow struct {
	manage.Token
	// By is who made it, if that is another.
	By string
}

// fill lists the tokens of the user, the newest first.
func (d *tokensData) fill(v *visit) error {
	policy := v.Registry.TokenPolicy()
	d.Choices, d.Forever, d.Days = policy.ExpiryDays, policy.NoExpiry, cmp.Or(d.Days, policy.DefaultDays)
	d.Refused = refusal(policy.Allow, d.subject, v.Actor.SiteAdmin())
	all, err := v.Tokens(d.ID)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	d.paging = newPaging(v.r, d.Path, len(all))
	for _, t := range shown(d.paging, all) {
		row := tokenRow{Token: t}
		if t.Creator != d.ID {
			switch u, err := v.Registry.User(t.Creator); {
			case err == nil:
				row.By = u.Name
			case isGone(err):
				row.By = "the command line, or a user who is gone"
			default:
				return err
			}
		}
		d.Tokens = append(d.Tokens, row)
	}
	return nil
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

// createToken makes a token and shows it, once: nothing that can be asked for
// again has it.
func createToken(v *visit) (answer, error) {
	d := &tokensData{Note: v.value("note"), Agents: v.form.Values["scope"] == identity.ScopeMCP, Sudo: v.form.Values["sudo"] != ""}
	ask := identity.NewToken{User: v.subject.ID, Note: d.Note, Scopes: []string{identity.ScopeAll}}
	if d.Agents {
		ask.Scopes = []string{identity.ScopeMCP}
	}
	if d.Sudo {
		ask.Scopes = append(ask.Scopes, identity.ScopeSudo)
	}
	if text := v.form.Values["days"]; text != "never" {
		days, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return answer{data: d}, &httpapi.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf("the lifetime %q is no number of days", text)}
		}
		d.Days = int(days)
		ask.Lifetime = manage.Lifetime(d.Days)
	}
	secret, _, err := v.CreateToken(ask)
	if err != nil {
		return answer{data: d}, err
	}
	return answer{data: &tokensData{Secret: secret}}, nil
}

// revokeToken ends a token. Another request may have been faster, which comes to
// the same.
func revokeToken(v *visit) (answer, error) {
	id, _ := strconv.ParseUint(v.form.Values["id"], 10, 32) // 0 is none
	err := v.RevokeToken(uint32(id))
	switch {
	case errors.Is(err, manage.ErrNoToken):
		err = &httpapi.Error{Status: http.StatusNotFound, Message: err.Error()}
	case isGone(err):
		err = nil
	}
	return answer{did: "revoked"}, err
}
