package notify

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// Mail is the mail server that messages are given to.
type Mail struct {
	// Address is host:port.
	Address string
	// User and Password sign in, if User is not "".
	User, Password string
	// From is the sender, as in "trawl@example.org" or "trawl <trawl@example.org>".
	From string
	// TLS is how the connection is protected: StartTLS, which is the default, ImplicitTLS
	// or NoTLS.
	TLS string
}

// The values of Mail.TLS. No message is sent if StartTLS is set and the server does not
// have it.
const (
	StartTLS    = "starttls"
	ImplicitTLS = "implicit"
	NoTLS       = "none"
)

// mailTimeout bounds the delivery of a mail.
const mailTimeout = 30 * time.Second

// mailServer names the mail server in errors.
const mailServer = "the mail server"

// sendMail gives a message to the mail server.
func (s *Sender) sendMail(ctx context.Context, to string, m Message) error {
	if s.Mail == nil {
		return &failure{text: "this server sends no mail: its operator has not set a mail server", permanent: true}
	}
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	msg, err := s.mail(to, m)
	if err != nil {
		return &failure{text: "the addresses of the mail cannot be used", permanent: true}
	}
	conn, err := s.Mail.dial(ctx, s.tlsConfig())
	if err != nil {
		return unreachable(mailServer, err)
	}
	defer conn.Close()
	// The library heeds the context only until it is connected.
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	client, err := s.Mail.client(conn, s.tlsConfig())
	if err != nil {
		return &failure{text: "the settings of the mail server cannot be used", permanent: true}
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return refused(errors.Join(ctx.Err(), err))
	}
	err = client.SendWithSMTPClient(session, msg)
	if msg.IsDelivered() {
		_ = client.CloseWithSMTPClient(session) // the server has the message already
		return nil
	}
	return refused(errors.Join(ctx.Err(), err))
}

func (s *Sender) tlsConfig() *tls.Config {
	host, _, _ := net.SplitHostPort(s.Mail.Address) // dial says what is wrong with it
	return &tls.Config{ServerName: host, RootCAs: s.roots, MinVersion: tls.VersionTLS12}
}

// dial connects to the mail server, over TLS if that is implicit.
func (m *Mail) dial(ctx context.Context, config *tls.Config) (net.Conn, error) {
	if m.TLS == ImplicitTLS {
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", m.Address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", m.Address)
}

// client returns a client that uses one connection.
func (m *Mail) client(conn net.Conn, config *tls.Config) (*mail.Client, error) {
	policy := mail.TLSMandatory
	if m.TLS == ImplicitTLS || m.TLS == NoTLS {
		policy = mail.NoTLS
	}
	options := []mail.Option{
		mail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return conn, nil }),
		mail.WithTimeout(mailTimeout), mail.WithTLSPolicy(policy), mail.WithTLSConfig(config),
		// What follows a delivery could fail, and the message would be sent again.
		mail.WithoutNoop(), mail.WithoutRset(),
	}
	if m.User != "" {
		// PLAIN and LOGIN refuse to send a password over a connection that is neither
		// protected nor local, whatever the server says.
		options = append(options, mail.WithUsername(m.User), mail.WithPassword(m.Password), mail.WithOpportunisticSMTPAuth(
			mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthCramMD5))
	}
	return mail.NewClient(config.ServerName, options...)
}

// refused is the failure of a mail that the server did not take.
func refused(err error) error {
	var (
		sending  *mail.SendError
		answered *textproto.Error
		code     int
	)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unreachable(mailServer, err)
	case errors.As(err, &sending):
		code = sending.ErrorCode()
	case errors.As(err, &answered):
		code = answered.Code
	}
	switch {
	case code == 535:
		return &failure{text: mailServer + " refused the user name or the password"}
	case code != 0:
		// What is wrong with the mailbox stays so; the rest is for the operator to mend.
		return &failure{text: fmt.Sprintf("%s answered %d", mailServer, code), permanent: code >= 550 && code <= 553}
	case sending != nil:
		return &failure{text: mailServer + ": the connection failed while the message was sent"}
	case errors.Is(err, smtp.ErrUnencrypted):
		return &failure{text: mailServer + ": the password is not sent, as the connection is not encrypted", permanent: true}
	// The library has no values for these two.
	case strings.Contains(err.Error(), "STARTTLS"):
		return &failure{text: mailServer + " does not offer STARTTLS"}
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered), strings.Contains(err.Error(), "not support SMTP AUTH"):
		return &failure{text: mailServer + " offers no way to sign in"}
	}
	return unreachable(mailServer, err)
}

// mail writes a message as mail.
func (s *Sender) mail(to string, m Message) (*mail.Msg, error) {
	from, err := netmail.ParseAddress(s.Mail.From)
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	msg.ToMailAddress(&netmail.Address{Address: to})
	msg.Subject(m.heading())
	msg.SetDate()
	msg.SetMessageIDWithValue(messageID(m.ID, from.Address))
	msg.SetUserAgent(s.agent())
	// Neither answers of absent people nor those of other programs are wanted (RFC 3834).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader(mail.HeaderXAutoResponseSuppress, "All")
	msg.SetBodyString(mail.TypeTextPlain, mailText(m))
	return msg, nil
}

// domain is what may stand in a message id as it is.
var domain = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)

// messageID is the same for the same message, so that servers and readers of mail drop a
// second one.
func messageID(id, from string) string {
	sum := sha256.Sum256([]byte(id))
	at := from[strings.LastIndexByte(from, '@')+1:]
	if !domain.MatchString(at) {
		at = "trawl.invalid"
	}
	return hex.EncodeToString(sum[:16]) + "@" + at
}

// mailText is the text of a mail.
func mailText(m Message) string {
	var b strings.Builder
	b.WriteString(m.heading())
	b.WriteString(m.where(m.Repository))
	b.WriteString("\n\n")
	if m.Query != "" {
		b.WriteString("Query: " + m.Query + "\n")
	}
	b.WriteString("Found: " + m.Found.UTC().Format("2006-01-02 15:04:05 MST") + "\n")
	for _, match := range m.Matches {
		b.WriteString("\n" + m.place(match) + "\n")
		for _, more := range []string{match.Text, match.URL} {
			if more != "" {
				b.WriteString("    " + more + "\n")
			}
		}
	}
	if left := m.Count - len(m.Matches); left > 0 && len(m.Matches) > 0 {
		b.WriteString("\n" + strconv.Itoa(left) + " more are left out.\n")
	}
	if m.URL != "" {
		b.WriteString("\n" + m.URL + "\n")
	}
	return b.String()
}
