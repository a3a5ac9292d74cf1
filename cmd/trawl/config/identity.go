package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// Identity are the settings of users and their access.
type Identity struct {
	// Anonymous says which clients may search without a credential.
	Anonymous auth.AnonymousMode
	// TrustedOrigins are origins whose pages are trusted like the server's own.
	TrustedOrigins []string
	// TrustedProxies may say where a request came from.
	TrustedProxies []netip.Prefix
	// Tokens is the policy for access tokens.
	Tokens identity.TokenPolicy
	// Names is the policy for names of users and organisations.
	Names identity.NamePolicy
	// SessionExpiry and SessionIdle are how long a session lasts, and how long
	// it lasts unused.
	SessionExpiry, SessionIdle time.Duration
	// LockoutAfter is how many failures to sign in lock a user; 0 is never.
	LockoutAfter int
	// AuditAge and AuditEntries bound the audit log.
	AuditAge     time.Duration
	AuditEntries int
	// UserRate and AddressRate limit the requests of a minute; 0 is no limit, and a
	// negative value chooses one by where the server listens.
	UserRate, AddressRate int
	// Agents says that agents are answered by the Model Context Protocol, Registration
	// that they may become OAuth apps by themselves.
	Agents, Registration bool
	// NoPasswords says that local passwords let nobody in.
	NoPasswords bool
}

// autoRate stands for a rate that is not set.
const autoRate = -1

// The rates of a server that others than the same machine reach.
const (
	defaultUserRate    = 1200
	defaultAddressRate = 300
)

func defaultIdentity() Identity {
	return Identity{
		Tokens:        identity.TokenPolicy{Allow: identity.TokensAll, ExpiryDays: []int{7, 14, 30, 60, 90}, MaxPerUser: 25},
		Names:         identity.NamePolicy{Orgs: identity.OrgsAll, MaxOrgs: 10},
		SessionExpiry: 90 * day,
		SessionIdle:   14 * day,
		LockoutAfter:  5,
		AuditAge:      365 * day,
		AuditEntries:  100_000,
		UserRate:      autoRate,
		AddressRate:   autoRate,
		Agents:        true,
		Registration:  true,
	}
}

const day = 24 * time.Hour

// Local reports whether only the same machine is served.
func (s *Settings) Local() bool {
	return auth.LoopbackOnly(s.Listen) && !auth.Published(s.ExternalURL)
}

// Rates returns the requests a minute for users and for addresses, 0 being as
// many as they like.
func (s *Settings) Rates() (user, address int) {
	user, address = s.UserRate, s.AddressRate
	if user == autoRate {
		user = 0
		if !s.Local() {
			user = defaultUserRate
		}
	}
	if address == autoRate {
		address = 0
		if !s.Local() {
			address = defaultAddressRate
		}
	}
	return user, address
}

// IdentityOptions are the settings as package identity has them.
func (s *Settings) IdentityOptions() identity.Options {
	lockout := s.LockoutAfter
	if lockout == 0 {
		lockout = -1
	}
	names := s.Names
	// Names lead to accounts: who took the name of another would be taken for them.
	names.Fixed = names.Fixed || s.UserHeader != ""
	return identity.Options{
		Tokens: s.Tokens, Names: names, SessionExpiry: s.SessionExpiry, SessionIdle: s.SessionIdle,
		LockoutAfter: lockout, AuditAge: s.AuditAge, AuditEntries: s.AuditEntries, Declared: Readers(s.Repositories),
	}
}

func identitySettings() []Setting {
	return []Setting{
		{"anonymous-access", "WHO", "auto",
			"search without signing in: yes, no, or auto: on the same machine until there is a user", setAnonymous},
		{"trusted-origins", "LIST", "none",
			"origins whose pages may act for the users who visit them; * lets all pages read what anonymous users may", setOrigins},
		{"trusted-proxies", "LIST", "none",
			"addresses or networks of proxies, whose X-Forwarded-For says where a request came from", setProxies},
		{"user-header", "NAME", "none",
			"header in which trusted-proxies name whom they have signed in, by user name or e-mail address, such as X-Forwarded-User; who has no account gets one", setUserHeader},
		{"access-tokens", "WHO", "all-users-create",
			"who creates access tokens: all-users-create, site-admin-create, or none, which also refuses those there are", setTokens},
		{"access-token-days", "LIST", "7,14,30,60,90",
			"lifetimes of access tokens to choose from, the longest being the most; never allows tokens that do not expire", setTokenDays},
		{"access-tokens-per-user", "N", "25",
			"how many access tokens a user can have", setTokensPerUser},
		{"organizations", "WHO", "all-users-create",
			"who makes organisations: all-users-create or site-admin-create", setOrgs},
		{"organizations-per-user", "N", "10",
			"how many organisations that a user made there can be; site admins are not bound", setOrgsPerUser},
		{"rename-self", "BOOL", "true",
			"whether users may change their own user name, to one that the configuration file does not mention", setRenameSelf},
		{"session-expiry", "TIME", "2160h",
			"how long people stay signed in", setSessionExpiry},
		{"session-idle", "TIME", "336h",
			"how long they stay signed in without doing anything", setSessionIdle},
		{"lockout-after", "N", "5",
			"failures to sign in within an hour that lock a user for half an hour; 0 never does", setLockout},
		{"audit-age", "TIME", "8760h",
			"how long the audit log goes back", setAuditAge},
		{"audit-entries", "N", "100000",
			"how many entries the audit log keeps", setAuditEntries},
		{"rate-limit-user", "N", "auto",
			"requests a minute for a user, with all tokens together; 0 is no limit, auto none on the same machine and 1200 elsewhere", setUserRate},
		{"rate-limit-address", "N", "auto",
			"requests a minute for an address without a user; 0 is no limit, auto none on the same machine and 300 elsewhere", setAddressRate},
		{"passwords", "BOOL", "true",
			"let people sign in with a password of this server; false takes oidc in the configuration file, or user-header", setPasswords},
		{"mcp", "BOOL", "true",
			"answer editors and assistants by the Model Context Protocol, at /.api/mcp", setAgents},
		{"client-registration", "BOOL", "true",
			"let programs become OAuth apps by themselves, which users may let in for the Model Context Protocol only", setRegistration},
	}
}

func setAnonymous(s *Settings, text string) error {
	modes := map[string]auth.AnonymousMode{"auto": auth.AnonymousAuto, "yes": auth.AnonymousYes, "no": auth.AnonymousNo}
	mode, ok := modes[text]
	if !ok {
		return fmt.Errorf("%q is not auto, yes or no", text)
	}
	s.Anonymous = mode
	return nil
}

func setOrigins(s *Settings, text string) (err error) {
	s.TrustedOrigins, err = auth.ParseOrigins(unlessNone(text))
	return err
}

func setProxies(s *Settings, text string) (err error) {
	s.TrustedProxies, err = auth.ParseProxies(unlessNone(text))
	return err
}

func setUserHeader(s *Settings, text string) (err error) {
	if s.UserHeader = unlessNone(text); s.UserHeader != "" {
		s.UserHeader, err = auth.ParseUserHeader(s.UserHeader)
	}
	return err
}

// unlessNone lets a list be said to be empty.
func unlessNone(text string) string {
	if text == "none" {
		return ""
	}
	return text
}

func setTokens(s *Settings, text string) (err error) {
	s.Tokens.Allow, err = identity.ParseTokenMode(text)
	return err
}

// mostTokenDays keeps lifetimes within what a duration can hold.
const mostTokenDays = 36500

func setTokenDays(s *Settings, text string) error {
	var days []int
	never := false
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "never" {
			never = true
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > mostTokenDays {
			return fmt.Errorf("%q is no number of days from 1 to %d: write 7,30,90 or 7,30,90,never", word, mostTokenDays)
		}
		days = append(days, n)
	}
	if len(days) == 0 {
		return errors.New("give a number of days, too: never is for those who ask for it")
	}
	slices.Sort(days)
	s.Tokens.ExpiryDays, s.Tokens.NoExpiry = slices.Compact(days), never
	return nil
}

func setTokensPerUser(s *Settings, text string) error {
	return setNumber(&s.Tokens.MaxPerUser, text, 1)
}

func setOrgs(s *Settings, text string) (err error) {
	s.Names.Orgs, err = identity.ParseOrgMode(text)
	return err
}

func setOrgsPerUser(s *Settings, text string) error { return setNumber(&s.Names.MaxOrgs, text, 1) }

func setRenameSelf(s *Settings, text string) error {
	may := true
	err := setBool(&may, text)
	s.Names.Fixed = !may
	return err
}

func setLockout(s *Settings, text string) error      { return setNumber(&s.LockoutAfter, text, 0) }
func setAuditEntries(s *Settings, text string) error { return setNumber(&s.AuditEntries, text, 1) }

func setNumber(dst *int, text string, least int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > math.MaxInt32 {
		return fmt.Errorf("%q is no number from %d", text, least)
	}
	*dst = n
	return nil
}

func setSessionExpiry(s *Settings, text string) error { return setLasting(&s.SessionExpiry, text) }
func setSessionIdle(s *Settings, text string) error   { return setLasting(&s.SessionIdle, text) }
func setAuditAge(s *Settings, text string) error      { return setLasting(&s.AuditAge, text) }

// setLasting reads a time of a minute or more.
func setLasting(dst *time.Duration, text string) error {
	d, err := parseTime(text)
	if err != nil {
		return err
	}
	if d < time.Minute {
		return fmt.Errorf("%s is too short: give at least 1m", text)
	}
	*dst = d
	return nil
}

func setPasswords(s *Settings, text string) error {
	may := true
	err := setBool(&may, text)
	s.NoPasswords = !may
	return err
}

func setAgents(s *Settings, text string) error       { return setBool(&s.Agents, text) }
func setRegistration(s *Settings, text string) error { return setBool(&s.Registration, text) }
func setUserRate(s *Settings, text string) error     { return setRate(&s.UserRate, text) }
func setAddressRate(s *Settings, text string) error  { return setRate(&s.AddressRate, text) }

func setRate(dst *int, text string) error {
	if text == "auto" {
		*dst = autoRate
		return nil
	}
	return setNumber(dst, text, 0)
}
