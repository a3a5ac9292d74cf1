package notify_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/trawlsearch/trawl/httpapi/notify"
)

// mailServer is a mail server that keeps what it is sent.
type mailServer struct {
	// refuse is its answer to recipients, refuseText that to messages.
	refuse, refuseText error
	// users makes it ask for a user and a password.
	users bool
	// hung is called before the answer to a message.
	hung func()

	mu   sync.Mutex // guards all below
	from string
	to   []string
	text []string
	tls  bool
}

// session is one connection to a mailServer.
type session struct {
	*mailServer
	conn   *smtp.Conn
	signed bool
}

func (s *mailServer) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{mailServer: s, conn: c}, nil
}

func (s *session) AuthMechanisms() []string {
	if !s.users {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "trawl" || password != "s3cret" {
			return &smtp.SMTPError{Code: 535, Message: "no s3cret for trawl"}
		}
		s.signed = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.users && !s.signed {
		return smtp.ErrAuthRequired
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = from
	_, s.tls = s.conn.TLSConnectionState()
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.refuse != nil {
		return s.refuse
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.hung != nil {
		s.hung()
	}
	if s.refuseText != nil {
		return s.refuseText
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, string(text))
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// open starts a server, which speaks TLS as a Mail does, and returns a Sender for it.
func (s *mailServer) open(t *testing.T, protection string) *notify.Sender {
	t.Helper()
	// It lends its certificate.
	web := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	srv := smtp.NewServer(s)
	srv.Domain, srv.ErrorLog = "mail.example.org", quiet()
	srv.AllowInsecureAuth = protection == notify.NoTLS
	config := &tls.Config{Certificates: web.TLS.Certificates}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	switch protection {
	case notify.ImplicitTLS:
		listener = tls.NewListener(listener, config)
	case "", notify.StartTLS:
		srv.TLSConfig = config
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(listener) // until it is closed
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		_ = listener.Close() // which the server may not know yet
		<-served
	})
	sender := &notify.Sender{Version: "1.2.3", Mail: &notify.Mail{Address: address, From: "trawl <trawl@example.org>", TLS: protection}}
	sender.Trust(roots(web))
	return sender
}

// received returns the only message of a server.
func (s *mailServer) received(t *testing.T) (*mail.Message, string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.text) != 1 {
		t.Fatalf("the server has %d messages, want 1", len(s.text))
	}
	m, err := mail.ReadMessage(strings.NewReader(s.text[0]))
	if err != nil {
		t.Fatalf("%v in %s", err, s.text[0])
	}
	if e := m.Header.Get("Content-Transfer-Encoding"); e != "quoted-printable" {
		t.Fatalf("got the encoding %s", e)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	return m, strings.ReplaceAll(string(body), "\r\n", "\n")
}

const ann = "ann@example.com"

func TestMail(t *testing.T) {
	var srv mailServer
	if err := srv.open(t, notify.NoTLS).Send(t.Context(), notify.Email, ann, message()); err != nil {
		t.Fatal(err)
	}
	m, body := srv.received(t)
	if srv.from != "trawl@example.org" || len(srv.to) != 1 || srv.to[0] != ann {
		t.Errorf("got a message from %s to %s, want one from trawl@example.org to %s", srv.from, srv.to, ann)
	}
	for name, want := range map[string]string{
		"From": `"trawl" <trawl@example.org>`, "To": "<" + ann + ">", "Subject": "2 new matches of Panics", "User-Agent": "trawl/1.2.3",
		"Auto-Submitted": "auto-generated", "Content-Type": "text/plain; charset=UTF-8",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("header %s: got %q, want %q", name, got, want)
		}
	}
	if at, err := m.Header.Date(); err != nil || time.Since(at) > 24*time.Hour {
		t.Errorf("got the date %v, %v; want today", at, err)
	}
	want := "2 new matches of Panics in lab/kiln\n\nQuery: panic( lang:go\nFound: 2026-03-04 04:06:07 UTC\n\n" +
		"heat/oven.go:12\n    panic(\"too hot\")\n    https://search.example.org/lab/kiln/-/blob/heat/oven.go?L12&x=1\n\n" +
		"1 more are left out.\n\nhttps://search.example.org/monitors/7\n"
	if body != want {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
}

func TestMailIDIsThatOfTheMessage(t *testing.T) {
	id := func(m notify.Message) string {
		var srv mailServer
		if err := srv.open(t, notify.NoTLS).Send(t.Context(), notify.Email, ann, m); err != nil {
			t.Fatal(err)
		}
		got, _ := srv.received(t)
		return got.Header.Get("Message-ID")
	}
	other := message()
	other.ID += "0"
	a, again, b := id(message()), id(message()), id(other)
	if a != again || a == b || !strings.HasSuffix(a, "@example.org>") {
		t.Errorf("got %s, %s for the same message and %s for another; want two that are equal, and another", a, again, b)
	}
}

func TestMailOverTLS(t *testing.T) {
	for _, protection := range []string{"", notify.StartTLS, notify.ImplicitTLS} {
		for _, users := range []bool{false, true} {
			srv := mailServer{users: users}
			sender := srv.open(t, protection)
			if users {
				sender.Mail.User, sender.Mail.Password = "trawl", "s3cret"
			}
			if err := sender.Send(t.Context(), notify.Email, ann, message()); err != nil {
				t.Errorf("TLS %q, users %t: %v", protection, users, err)
				continue
			}
			if srv.received(t); !srv.tls {
				t.Errorf("TLS %q, users %t: the message came over a connection without TLS", protection, users)
			}
		}
	}
}

func TestMailSignsInToThisMachineWithoutTLS(t *testing.T) {
	srv := mailServer{users: true}
	sender := srv.open(t, notify.NoTLS)
	sender.Mail.User, sender.Mail.Password = "trawl", "s3cret"
	if err := sender.Send(t.Context(), notify.Email, ann, message()); err != nil {
		t.Fatal(err)
	}
	srv.received(t)
}

// mailError checks the error of a message that must not have been delivered.
func mailError(t *testing.T, name string, err error, permanent bool, want string) {
	t.Helper()
	if err == nil || errors.Is(err, notify.ErrPermanent) != permanent || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, permanent %t; want %q, permanent %t", name, err, errors.Is(err, notify.ErrPermanent), want, permanent)
	}
	if err != nil {
		for _, part := range []string{ann, "s3cret", "127.0.0.1"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %q has %q", name, err, part)
			}
		}
	}
}

func TestMailThatIsRefused(t *testing.T) {
	send := func(srv *mailServer, protection string, change func(*notify.Sender)) error {
		sender := srv.open(t, protection)
		if change != nil {
			change(sender)
		}
		err := sender.Send(t.Context(), notify.Email, ann, message())
		if srv.mu.Lock(); len(srv.text) > 0 {
			t.Errorf("the server has a message in spite of %v", err)
		}
		srv.mu.Unlock()
		return err
	}
	answer := func(code int) error { return &smtp.SMTPError{Code: code, Message: ann + " has no mailbox"} }
	signIn := func(s *notify.Sender) { s.Mail.User, s.Mail.Password = "trawl", "s3cret" }

	mailError(t, "no mailbox", send(&mailServer{refuse: answer(550)}, notify.NoTLS, nil), true, "answered 550")
	mailError(t, "busy", send(&mailServer{refuse: answer(450)}, notify.NoTLS, nil), false, "answered 450")
	mailError(t, "spam", send(&mailServer{refuseText: answer(554)}, notify.NoTLS, nil), false, "answered 554")
	mailError(t, "full", send(&mailServer{refuseText: answer(452)}, notify.NoTLS, nil), false, "answered 452")
	mailError(t, "password", send(&mailServer{users: true}, notify.StartTLS, func(s *notify.Sender) {
		signIn(s)
		s.Mail.Password = "wrong s3cret"
	}), false, "refused the user name or the password")
	mailError(t, "no sign-in", send(&mailServer{}, notify.StartTLS, signIn), false, "no way to sign in")
	mailError(t, "no STARTTLS", send(&mailServer{}, notify.NoTLS, func(s *notify.Sender) { s.Mail.TLS = notify.StartTLS }), false, "STARTTLS")
	mailError(t, "certificate", send(&mailServer{}, notify.StartTLS, func(s *notify.Sender) { s.Trust(nil) }), false, "certificate")
	mailError(t, "certificate", send(&mailServer{}, notify.ImplicitTLS, func(s *notify.Sender) { s.Trust(nil) }), false, "certificate")
	mailError(t, "no TLS", send(&mailServer{}, notify.NoTLS, func(s *notify.Sender) { s.Mail.TLS = notify.ImplicitTLS }), false, "TLS")
	mailError(t, "no sender", send(&mailServer{}, notify.NoTLS, func(s *notify.Sender) { s.Mail.From = "nobody" }), true, "addresses")
	mailError(t, "no mail", send(&mailServer{}, notify.NoTLS, func(s *notify.Sender) { s.Mail = nil }), true, "sends no mail")
}

func TestMailServerThatIsAway(t *testing.T) {
	var srv mailServer
	sender := srv.open(t, notify.NoTLS)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sender.Mail.Address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	mailError(t, "closed port", sender.Send(t.Context(), notify.Email, ann, message()), false, "the mail server")
}

func TestMailHonoursTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var srv mailServer
	done := make(chan struct{})
	srv.hung = func() {
		cancel()
		select {
		case <-done:
		case <-time.After(20 * time.Second): // and then takes it, if Send still waits
		}
	}
	sender := srv.open(t, notify.NoTLS)
	t.Cleanup(func() { close(done) }) // before the server is closed
	err := sender.Send(ctx, notify.Email, ann, message())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context was canceled", err)
	}
	mailError(t, "canceled", err, false, "canceled")
}

// No text of a message becomes a header, another recipient or another message.
func TestMailBoundsHostileTexts(t *testing.T) {
	var srv mailServer
	m := hostile()
	m.Title = "x\r\nBcc: eve@example.org\r\n\r\nbody\r\n.\r\nMAIL FROM:<eve@example.org>"
	m.Matches[0].Text = "\n.\r\n.\r\nRCPT TO:<eve@example.org>"
	if err := srv.open(t, notify.NoTLS).Send(t.Context(), notify.Email, ann, m); err != nil {
		t.Fatal(err)
	}
	got, body := srv.received(t)
	if len(srv.to) != 1 || got.Header.Get("Bcc") != "" || got.Header.Get("X-Evil") != "" {
		t.Errorf("got recipients %v and headers %v, want the recipient and headers of trawl", srv.to, got.Header)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
	if want := "90 new matches of x  Bcc: eve@example.org    body  .  MAIL FROM:<eve@example.org>"; err != nil || subject != want {
		t.Errorf("got the subject %q, %v; want %q", subject, err, want)
	}
	if strings.ContainsAny(body, "\r\x00\x1b\u202e") || !strings.Contains(body, "40 more are left out.") {
		t.Errorf("got %.400q, want a text without control characters that says how many are left out", body)
	}
	for line := range strings.Lines(srv.text[0]) {
		if len(line) > 998 {
			t.Errorf("a line has %d bytes, more than mail may have: %.80s…", len(line), line)
		}
	}
}
