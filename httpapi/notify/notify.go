package notify

import (
	"context"
	"crypto/x509"
	"errors"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
)

// Kind says how a message is delivered.
type Kind string

// The kinds of delivery.
const (
	Email   Kind = "email"
	Webhook Kind = "webhook"
	Slack   Kind = "slack"
)

// Match is one new match that a message shows.
type Match struct {
	Repository, Path string
	// Line counts from 1; 0 is none.
	Line int
	// Text is the line, URL its page.
	Text, URL string
}

// Message is about new matches of a saved search.
type Message struct {
	// ID is the same at each attempt to deliver the message, so that a receiver can
	// drop a second one.
	ID string
	// Title and Query are those of the saved search.
	Title, Query string
	// Repository is where the matches are, "" if they are in several Repositories.
	Repository   string
	Repositories int
	// Count is the number of new matches, Matches are the first of them; at most
	// MaxMatches are sent.
	Count   int
	Matches []Match
	// URL is the page of the monitor, "" if the server has no external URL.
	URL string
	// Found is when the matches were found.
	Found time.Time
}

// Sender delivers messages. It is safe for concurrent use.
type Sender struct {
	// Mail is the mail server, nil for none.
	Mail *Mail
	// Guard decides which addresses webhooks may connect to: public ones, as users
	// write them, and what it allows of others for Hosts, which are in lower case. It does
	// not bind the mail server, which the operator has chosen.
	Guard hosts.Guard
	Hosts []string
	// Version is the version of this program.
	Version string

	// roots are the certificates that are trusted, nil for those of the system.
	roots *x509.CertPool
}

// Send delivers a message once. Its errors hold no secret and not the address; one
// that is ErrPermanent says that trying again is of no use.
func (s *Sender) Send(ctx context.Context, kind Kind, to string, m Message) error {
	if err := Check(kind, to); err != nil {
		return &failure{text: err.Error(), permanent: true}
	}
	m = clean(m)
	switch kind {
	case Email:
		return s.sendMail(ctx, to, m)
	case Slack:
		return s.post(ctx, kind, to, m.ID, slackPayload{slackText(m)})
	}
	return s.post(ctx, kind, to, m.ID, payload(m))
}

// maxAddressBytes is how long an address of a webhook may be, maxMailboxBytes one of
// mail, by RFC 5321.
const (
	maxAddressBytes = 2000
	maxMailboxBytes = 254
)

// Check refuses an address that cannot be right. The error does not hold it.
func Check(kind Kind, to string) error {
	switch kind {
	case Email:
		return checkMailbox(to)
	case Webhook, Slack:
		return checkURL(to)
	}
	return errors.New("the kind of a message is email, webhook or slack")
}

func checkMailbox(to string) error {
	parsed, err := mail.ParseAddress(to)
	// A name or a comment around the address, and quotes in it, are not kept.
	if err != nil || parsed.Address != to || len(to) > maxMailboxBytes || !plain(to) {
		return errors.New("that is no mail address: write one such as ann@example.org")
	}
	return nil
}

func checkURL(to string) error {
	if len(to) > maxAddressBytes {
		return errors.New("the address is longer than 2000 bytes")
	}
	u, err := url.Parse(to)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !plain(to) || strings.ContainsRune(u.Host, ' '):
		return errors.New("that is no address of a webhook: write one such as https://hooks.example.org/services/1")
	case u.User != nil:
		return errors.New("the address has a user name or a password, which a webhook does not send: put the secret into the path")
	}
	return nil
}
