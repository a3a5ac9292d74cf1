package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/notify"
)

// smtp are the settings of the mail server as they were written, "" if not set.
type smtp struct{ address, user, passwordFile, from, tls string }

func mailSettings() []Setting {
	return []Setting{
		{"webhook-hosts", "LIST", "none",
			"hosts in private networks, by name or address, that webhooks of users may lead to; public ones they may always", setWebhookHosts},
		{"smtp", "ADDR", "none",
			"host and port of the mail server that messages about new matches are given to, such as mail.example.org:587", setSMTP},
		{"smtp-from", "ADDRESS", "not set",
			"sender of these messages, such as trawl@example.org; goes with smtp", setSMTPFrom},
		{"smtp-user", "NAME", "not set",
			"user name at the mail server", setSMTPUser},
		{"smtp-password-file", "FILE", "not set",
			"file with the password at the mail server; goes with smtp-user", setSMTPPasswordFile},
		{"smtp-tls", "WHEN", "starttls",
			"starttls, which sends nothing to a server without it, implicit for TLS from the start (port 465), or none", setSMTPTLS},
	}
}

func setSMTP(s *Settings, text string) error {
	s.smtp.address = unlessNone(text)
	if s.smtp.address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(text)
	n, portErr := strconv.Atoi(port)
	if err != nil || portErr != nil || n < 1 || n > 65535 || host == "" || strings.ContainsAny(host, "/@ ") {
		return fmt.Errorf("%q is no host and port: write mail.example.org:587", text)
	}
	return nil
}

func setWebhookHosts(s *Settings, text string) error {
	s.WebhookHosts = nil
	for _, host := range strings.FieldsFunc(strings.ToLower(unlessNone(text)), func(r rune) bool { return r == ',' || r == ' ' }) {
		if strings.ContainsAny(host, "/@*") {
			return fmt.Errorf("%q is no host: write chat.example.org or 10.0.0.7", host)
		}
		s.WebhookHosts = append(s.WebhookHosts, host)
	}
	return nil
}

func setSMTPFrom(s *Settings, text string) error {
	if _, err := mail.ParseAddress(text); err != nil {
		return fmt.Errorf("%q is no mail address: write trawl@example.org", text)
	}
	s.smtp.from = text
	return nil
}

func setSMTPUser(s *Settings, text string) error {
	s.smtp.user = text
	return nil
}

func setSMTPPasswordFile(s *Settings, text string) error {
	s.smtp.passwordFile = text
	return nil
}

func setSMTPTLS(s *Settings, text string) error {
	return oneOf(&s.smtp.tls, text, notify.StartTLS, notify.ImplicitTLS, notify.NoTLS)
}

// mail returns the mail server, nil for none. It refuses settings that lack others.
func (m smtp) mail() (*notify.Mail, error) {
	switch {
	case m.address == "" && m.from != "":
		return nil, errors.New("smtp-from without smtp: name the mail server as well, with --smtp or TRAWL_SMTP")
	case m.address == "" && (m.user != "" || m.passwordFile != ""):
		return nil, errors.New("smtp-user or smtp-password-file without smtp: name the mail server as well, with --smtp or TRAWL_SMTP")
	case m.address == "":
		return nil, nil
	case m.from == "":
		return nil, errors.New("smtp without smtp-from: say which address sends the mail, with --smtp-from or TRAWL_SMTP_FROM")
	case m.user != "" && m.passwordFile == "":
		return nil, errors.New("smtp-user without smtp-password-file: name a file with the password as well, with --smtp-password-file or TRAWL_SMTP_PASSWORD_FILE")
	case m.user == "" && m.passwordFile != "":
		return nil, errors.New("smtp-password-file without smtp-user: say whose password it is, with --smtp-user or TRAWL_SMTP_USER")
	case m.user != "" && m.tls == notify.NoTLS && !auth.LoopbackOnly(m.address):
		return nil, errors.New("smtp-tls: none would send the password to another machine unencrypted: use starttls or implicit, or no smtp-user")
	}
	out := &notify.Mail{Address: m.address, User: m.user, From: m.from, TLS: m.tls}
	if m.passwordFile != "" {
		password, err := readSecret(m.passwordFile)
		if err != nil {
			return nil, fmt.Errorf("smtp-password-file: %w", err)
		}
		out.Password = password
	}
	return out, nil
}
