package config_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// Limits are for those whom the machine's owner does not know.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		flags         map[string]string
		user, address int
		local         bool
	}{
		{nil, 0, 0, true},
		{map[string]string{"listen": ":7080"}, 1200, 300, false},
		{map[string]string{"external-url": "https://search.example.org"}, 1200, 300, false},
		{map[string]string{"external-url": "http://localhost:7080"}, 0, 0, true},
		{map[string]string{"listen": ":7080", "rate-limit-user": "0", "rate-limit-address": "7"}, 0, 7, false},
		{map[string]string{"rate-limit-user": "9"}, 9, 0, true},
	} {
		s, err := resolve(t, "", nil, c.flags)
		if err != nil {
			t.Fatal(err)
		}
		if user, address := s.Rates(); user != c.user || address != c.address || s.Local() != c.local {
			t.Errorf("%v: got %d, %d, local %t; want %d, %d, %t", c.flags, user, address, s.Local(), c.user, c.address, c.local)
		}
	}
}

func TestIdentityOptions(t *testing.T) {
	s, err := resolve(t, "access-token-days: 30,7,never\nsession-idle: 1h\nlockout-after: 0\naccess-tokens: site-admin-create\n", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := s.IdentityOptions()
	want := identity.TokenPolicy{Allow: identity.TokensAdmin, NoExpiry: true, ExpiryDays: []int{7, 30}, MaxPerUser: 25}
	if !reflect.DeepEqual(got.Tokens, want) {
		t.Errorf("tokens: got %+v, want %+v", got.Tokens, want)
	}
	if got.SessionIdle != time.Hour || got.LockoutAfter >= 0 {
		t.Errorf("sessions idle %v, lockout after %d; want 1h and never", got.SessionIdle, got.LockoutAfter)
	}
}
