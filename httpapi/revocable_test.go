package httpapi_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// grants knows one bearer token until it is revoked.
type grants struct {
	user    uint32
	revoked atomic.Bool
}

func (g *grants) Bearer(_ context.Context, token string) (auth.Bearer, error) {
	if token != "x" || g.revoked.Load() {
		return auth.Bearer{}, identity.ErrNoCredential
	}
	return auth.Bearer{User: g.user, Client: "app", Scopes: []string{identity.ScopeAll}}, nil
}

// TestAnswersEndWithTheirCredential: within two seconds of the end of a
// credential its answer ends, although the client does not read and the handler
// knows of no context.
func TestAnswersEndWithTheirCredential(t *testing.T) {
	yes := true
	type world struct {
		*site
		ann    *identity.User
		token  string
		grants *grants
	}
	byToken := func(w *world) string { return "Authorization: token " + w.token }
	for name, c := range map[string]struct {
		header func(w *world) string
		end    func(w *world) error
	}{
		"token revoked": {byToken, func(w *world) error { return w.reg.RevokeTokenText(identity.Operator, w.token) }},
		"user locked": {byToken, func(w *world) error {
			_, err := w.reg.ChangeUser(identity.Operator, w.ann.ID, identity.UserChange{Locked: &yes})
			return err
		}},
		"user deleted": {byToken, func(w *world) error { return w.reg.DeleteUser(identity.Operator, w.ann.ID) }},
		"signed out": {func(w *world) string { return "Cookie: " + w.signIn(t, "ann").String() },
			func(w *world) error { return w.reg.SignOut(identity.Operator, w.ann.ID) }},
		"grant revoked": {func(*world) string { return "Authorization: Bearer x" }, func(w *world) error {
			w.grants.revoked.Store(true)
			w.Gate.Recheck()
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{site: newSite(t, nothing)}
			w.ann, w.token = w.user(t, identity.NewUser{Name: "ann"})
			w.grants = &grants{user: w.ann.ID}
			w.Gate.Bearers = w.grants
			ended := make(chan struct{})
			w.Extra = []httpapi.Route{{Method: "GET", Path: "/endless", Handler: func(rw http.ResponseWriter, _ *http.Request) error {
				defer close(ended)
				control, block := http.NewResponseController(rw), make([]byte, 64<<10)
				for {
					_ = control.SetWriteDeadline(time.Now().Add(time.Minute))
					if _, err := rw.Write(block); err != nil {
						return nil
					}
				}
			}}}
			header := c.header(w)
			open(t, w.Server)
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL(), "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write([]byte("GET /endless HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
			if status, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(status, " 200 ") {
				t.Fatalf("got %q, %v", status, err)
			}
			if err := c.end(w); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
			case <-time.After(patience): // its own deadline is later
				t.Errorf("the answer goes on %v after its credential has ended", patience)
				_ = conn.Close()
				<-ended
			}
		})
	}
}
