package identity_test

import (
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// TestSetPolicy: another policy holds for what is asked from then on, and nothing that
// is no policy changes.
func TestSetPolicy(t *testing.T) {
	var tried []identity.SignInOutcome
	w := newWorld(t, identity.Options{LockoutAfter: 3, AuditEntries: 1000, Tried: func(o identity.SignInOutcome) { tried = append(tried, o) }})
	u := w.user(t, "ann")
	week := 7 * 24 * time.Hour
	token := func() error {
		_, _, err := w.CreateToken(identity.Operator, identity.NewToken{User: u.ID, Scopes: []string{identity.ScopeAll}, Note: "x", Lifetime: &week})
		return err
	}
	if err := token(); err != nil {
		t.Fatal(err)
	}
	w.SetPolicy(identity.Options{Tokens: identity.TokenPolicy{MaxPerUser: 1}, SessionExpiry: time.Hour, AuditEntries: 7})
	if err := token(); err == nil {
		t.Error("a second token is made although one is the most")
	}
	if got := w.SessionExpiry(); got != time.Hour {
		t.Errorf("sessions last %v, want an hour", got)
	}
	if got := w.TokenPolicy(); got.MaxPerUser != 1 || len(got.ExpiryDays) == 0 {
		t.Errorf("the policy is %+v, want the defaults beside what was set", got)
	}
	for range 20 {
		if err := w.Log(identity.Operator, "test", "x", ""); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := w.Audit(identity.AuditFilter{})
	if err != nil || len(entries) > 7 {
		t.Errorf("the audit log has %d entries, %v; want 7 at most", len(entries), err)
	}
	w.SetPolicy(identity.Options{Tokens: identity.TokenPolicy{MaxPerUser: 2}})
	if err := token(); err != nil {
		t.Errorf("a second token of two: %v", err)
	}
	if _, _, err := w.SignIn(t.Context(), identity.Operator, "ann", "wrong password"); err == nil || len(tried) != 1 {
		t.Errorf("sign in: %v, told %v", err, tried)
	}
}
