package notify_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/notify"
)

// secretPath is the part of an address that nobody else may learn.
const secretPath = "/services/s3cret"

// local lets tests reach this machine.
var local = notify.Sender{Guard: hosts.Guard{AllowLocal: true}, Version: "1.2.3"}

// request is what a receiver was sent.
type request struct {
	method, path string
	header       http.Header
	body         []byte
}

// receiver answers by a handler, after it has kept the request.
func receiver(t *testing.T, answer http.HandlerFunc) (address string, got *request) {
	t.Helper()
	got = &request{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		*got = request{r.Method, r.URL.Path, r.Header.Clone(), body}
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + secretPath, got
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestWebhook(t *testing.T) {
	address, got := receiver(t, status(http.StatusAccepted))
	if err := local.Send(t.Context(), notify.Webhook, address, message()); err != nil {
		t.Fatal(err)
	}
	if got.method != http.MethodPost || got.path != secretPath {
		t.Errorf("got %s %s, want POST %s", got.method, got.path, secretPath)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "User-Agent": "trawl/1.2.3", "Idempotency-Key": "monitor-7-12"} {
		if g := got.header.Get(name); g != want {
			t.Errorf("header %s: got %q, want %q", name, g, want)
		}
	}
	want := `{"id":"monitor-7-12","title":"Panics","query":"panic( lang:go","repository":"lab/kiln","count":2,` +
		`"matches":[{"repository":"lab/kiln","path":"heat/oven.go","line":12,"text":"panic(\"too hot\")",` +
		`"url":"https://search.example.org/lab/kiln/-/blob/heat/oven.go?L12\u0026x=1"}],` +
		`"url":"https://search.example.org/monitors/7","found":"2026-03-04T04:06:07Z"}`
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}

func TestWebhookWithoutMatchesSendsAList(t *testing.T) {
	address, got := receiver(t, status(http.StatusOK))
	if err := local.Send(t.Context(), notify.Webhook, address, notify.Message{ID: "1", Count: 3, Found: found}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got.body), `"matches":[]`) {
		t.Errorf("got %s, want an empty list of matches", got.body)
	}
}

func TestWebhookBoundsHostileTexts(t *testing.T) {
	address, got := receiver(t, status(http.StatusOK))
	m := hostile()
	m.ID = "1"
	if err := local.Send(t.Context(), notify.Webhook, address, m); err != nil {
		t.Fatal(err)
	}
	var p notify.Payload
	if err := json.Unmarshal(got.body, &p); err != nil {
		t.Fatalf("%.200s: %v", got.body, err)
	}
	if len(p.Matches) != 50 || p.Count != 90 || p.URL != "" {
		t.Fatalf("got %d matches of %d and the page %q, want 50 of 90 and none", len(p.Matches), p.Count, p.URL)
	}
	one := p.Matches[0]
	if n := utf8.RuneCountInString(one.Text); n != 200 || !strings.HasSuffix(one.Text, "<…") {
		t.Errorf("got a text of %d characters, %q; want 200 and an ellipsis", n, one.Text)
	}
	if one.Line != 0 || one.URL != "" {
		t.Errorf("got line %d and address %q, want none", one.Line, one.URL)
	}
	for _, text := range []string{p.Title, p.Query, p.Repository, one.Path, one.Repository, one.Text} {
		if strings.ContainsAny(text, "\r\n\x00\x1b\u202e") || !utf8.ValidString(text) {
			t.Errorf("%q has characters that control how it is shown", text)
		}
	}
}

func TestWebhookAnswers(t *testing.T) {
	for _, c := range []struct {
		status    int
		ok        bool
		permanent bool
	}{
		{200, true, false}, {204, true, false}, {299, true, false},
		{302, false, true}, {307, false, true}, {304, false, true},
		{400, false, true}, {401, false, true}, {404, false, true}, {410, false, true},
		{408, false, false}, {425, false, false}, {429, false, false},
		{500, false, false}, {501, false, false}, {503, false, false}, {600, false, false},
	} {
		address, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
			w.WriteHeader(c.status)
		})
		err := local.Send(t.Context(), notify.Webhook, address, message())
		if (err == nil) != c.ok || errors.Is(err, notify.ErrPermanent) != c.permanent {
			t.Errorf("status %d: got %v, permanent %t; want success %t, permanent %t", c.status, err, errors.Is(err, notify.ErrPermanent), c.ok, c.permanent)
		}
		showsNothing(t, err, address)
	}
}

// TestRetryAfter: a receiver says from when on it takes messages.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		text        string
		from, until time.Duration
	}{
		{"", 0, 0}, {"soon", 0, 0}, {"-5", 0, 0}, {"99999999999", 0, 0},
		{"90", 89 * time.Second, 91 * time.Second},
		{time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 58 * time.Minute, time.Hour},
	} {
		address, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.text)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		before := time.Now()
		err := local.Send(t.Context(), notify.Slack, address, message())
		after := time.Now()
		until := notify.Until(fmt.Errorf("deliver: %w", err))
		if c.until == 0 && until.IsZero() {
			continue
		}
		if until.Before(before.Add(c.from)) || until.After(after.Add(c.until)) {
			t.Errorf("Retry-After %q: until %s, %s from now", c.text, until, time.Until(until))
		}
	}
	if until := notify.Until(errors.New("another")); !until.IsZero() {
		t.Errorf("another error: until %s", until)
	}
}

// showsNothing fails if the text of an error has a part of an address.
func showsNothing(t *testing.T, err error, address string) {
	t.Helper()
	if err == nil {
		return
	}
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), secretPath)
	for _, part := range []string{address, host, "s3cret", "127.0.0.1", "localhost"} {
		if strings.Contains(err.Error(), part) {
			t.Errorf("error %q has %q of the address", err, part)
		}
	}
}

func TestWebhookFollowsNoRedirect(t *testing.T) {
	var followed atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		address, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) })
		err := local.Send(t.Context(), notify.Webhook, address, message())
		if !errors.Is(err, notify.ErrPermanent) || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("status %d: got %v, want a permanent error about redirects", code, err)
		}
	}
	if followed.Load() {
		t.Error("a redirect was followed")
	}
}

// The status decides; of what follows, little is read.
func TestWebhookEndlessAnswer(t *testing.T) {
	for code, ok := range map[int]bool{200: true, 500: false} {
		written := make(chan int, 1)
		address, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			n, part := 0, make([]byte, 16<<10)
			for {
				m, err := w.Write(part)
				if n += m; err != nil || n > 256<<20 {
					written <- n
					return
				}
			}
		})
		err := local.Send(t.Context(), notify.Webhook, address, message())
		if (err == nil) != ok {
			t.Errorf("status %d: got %v, want success: %t", code, err, ok)
		}
		// The rest fills buffers of the system.
		if n := <-written; n > 256<<20 {
			t.Errorf("status %d: the receiver could write %d bytes", code, n)
		}
	}
}

func TestWebhookHonoursTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	address, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-done
	})
	t.Cleanup(func() { close(done) }) // before the server is closed
	err := local.Send(ctx, notify.Webhook, address, message())
	if !errors.Is(err, context.Canceled) || errors.Is(err, notify.ErrPermanent) {
		t.Errorf("got %v, want that the context was canceled", err)
	}
	showsNothing(t, err, address)
}

func TestWebhookIsGuarded(t *testing.T) {
	asked := false
	address, _ := receiver(t, func(http.ResponseWriter, *http.Request) { asked = true })
	for _, to := range []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1), "http://169.254.169.254/s3cret"} {
		err := new(notify.Sender).Send(t.Context(), notify.Webhook, to, message())
		if !errors.Is(err, notify.ErrPermanent) {
			t.Errorf("%s: got %v, want a permanent error", to, err)
		}
		showsNothing(t, err, to)
	}
	if asked {
		t.Error("a guarded address was asked")
	}
}

func TestWebhookThatIsAway(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	address := srv.URL + secretPath
	srv.Close()
	err := local.Send(t.Context(), notify.Webhook, address, message())
	if err == nil || errors.Is(err, notify.ErrPermanent) {
		t.Errorf("got %v, want an error that may pass", err)
	}
	showsNothing(t, err, address)
}

func TestWebhookThatClosesTheConnection(t *testing.T) {
	address, _ := receiver(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	err := local.Send(t.Context(), notify.Webhook, address, message())
	if err == nil || errors.Is(err, notify.ErrPermanent) {
		t.Errorf("got %v, want an error that may pass", err)
	}
	showsNothing(t, err, address)
}

func TestWebhookChecksCertificates(t *testing.T) {
	srv := httptest.NewUnstartedServer(status(http.StatusOK))
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	defer srv.Close()
	trusting := notify.Sender{Guard: hosts.Guard{AllowLocal: true}}
	trusting.Trust(roots(srv))
	if err := trusting.Send(t.Context(), notify.Webhook, srv.URL+secretPath, message()); err != nil {
		t.Errorf("a certificate that is trusted: %v", err)
	}
	err := local.Send(t.Context(), notify.Webhook, srv.URL+secretPath, message())
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want that the certificate is not trusted", err)
	}
	showsNothing(t, err, srv.URL+secretPath)
	plain, _ := receiver(t, status(http.StatusOK))
	if err := local.Send(t.Context(), notify.Webhook, strings.Replace(plain, "http:", "https:", 1), message()); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("got %v, want that the server does not use TLS", err)
	}
}

func roots(srv *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return pool
}

func TestWebhookRefusesAnIDThatIsNoHeader(t *testing.T) {
	address, got := receiver(t, status(http.StatusOK))
	err := local.Send(t.Context(), notify.Webhook, address, hostile())
	if err == nil || !reflect.DeepEqual(*got, request{}) {
		t.Errorf("got %v and sent %v, want an error and no request", err, got.header)
	}
	showsNothing(t, err, address)
}

// TestWebhookOfAPrivateNetwork: webhooks reach private networks only at hosts that the
// operator has named.
func TestWebhookOfAPrivateNetwork(t *testing.T) {
	const address = "http://10.255.255.254:9/hook"
	s := notify.Sender{}
	if err := s.Send(t.Context(), notify.Webhook, address, message()); !errors.Is(err, notify.ErrPermanent) {
		t.Errorf("a host that is not named: %v, want ErrPermanent", err)
	}
	s.Hosts = []string{"chat.example.org", "10.255.255.254"}
	private := netip.MustParseAddr("10.1.2.3")
	for host, named := range map[string]bool{"10.255.255.254": true, "CHAT.example.org": true, "chat.example.org.evil.example": false, "example.org": false} {
		if err := s.GuardOf(host).Check(private); (err == nil) != named {
			t.Errorf("%s: %v", host, err)
		}
	}
}
