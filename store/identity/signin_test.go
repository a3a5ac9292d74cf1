package identity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

const (
	right = "correct horse battery"
	wrong = "incorrect horse battery"
)

var from = identity.Author{Address: "192.0.2.7"}

// signed makes a user with a password.
func (w *world) signed(t testing.TB, name string) *identity.User {
	t.Helper()
	u, err := w.CreateUser(identity.Operator, identity.NewUser{Name: name, Email: name + "@example.org", EmailVerified: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetPassword(t.Context(), identity.Operator, u.ID, right); err != nil {
		t.Fatal(err)
	}
	return u
}

func (w *world) signIn(t testing.TB, login string) string {
	t.Helper()
	secret, _, err := w.SignIn(t.Context(), from, login, right)
	if err != nil {
		t.Fatalf("sign in as %q: %v", login, err)
	}
	return secret
}

func TestSignIn(t *testing.T) {
	w := newWorld(t, identity.Options{LockoutAfter: -1})
	ann := w.signed(t, "ann")
	w.user(t, "none") // without a password
	if _, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "robot", Service: true}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ login, password, want string }{
		{"ann", right, ""}, {"ANN", right, ""}, {"ann@example.org", right, ""}, {"Ann@Example.ORG", right, ""},
		{"ann", wrong, "wrong user name or password"}, {"ann", "", "wrong user name or password"}, {"ann", right + " ", "wrong"},
		{"bob", right, "wrong user name or password"}, {"", "", "wrong"}, {"none", "", "wrong"}, {"robot", "", "wrong"},
		{"bob@example.org", right, "wrong"}, {"ann", strings.Repeat("x", 1<<20), "wrong"},
	} {
		secret, u, err := w.SignIn(t.Context(), from, c.login, c.password)
		check(t, fmt.Sprintf("SignIn(%q, %.30q)", c.login, c.password), err, c.want)
		if c.want != "" {
			continue
		}
		if u.ID != ann.ID {
			t.Errorf("SignIn(%q): got %+v", c.login, u)
		}
		if _, u, err := w.CheckSession(secret); err != nil || u.ID != ann.ID {
			t.Errorf("CheckSession after SignIn(%q): got %+v, %v", c.login, u, err)
		}
	}
	if a, b := w.signIn(t, "ann"), w.signIn(t, "ann"); a == b {
		t.Error("two sessions have one secret")
	}
	for _, secret := range []string{"", "x", strings.Repeat("A", 43), strings.Repeat("A", 1<<20)} {
		if _, _, err := w.CheckSession(secret); !errors.Is(err, identity.ErrNoCredential) {
			t.Errorf("CheckSession(%.50q): got %v, want ErrNoCredential", secret, err)
		}
	}
}

func TestSessionEnds(t *testing.T) {
	yes := true
	ends := map[string]func(w *world, u *identity.User) error{
		"signed out": func(w *world, u *identity.User) error { return w.SignOut(author(u), u.ID) },
		"new password": func(w *world, u *identity.User) error {
			return w.SetPassword(context.Background(), author(u), u.ID, wrong)
		},
		"reset":   func(w *world, u *identity.User) error { _, err := w.ResetPassword(identity.Operator, u.ID); return err },
		"deleted": func(w *world, u *identity.User) error { return w.DeleteUser(identity.Operator, u.ID) },
		"locked": func(w *world, u *identity.User) error {
			_, err := w.ChangeUser(identity.Operator, u.ID, identity.UserChange{Locked: &yes})
			return err
		},
		"idle":    func(w *world, _ *identity.User) error { w.clock.Add(14 * day); return nil },
		"expired": nil, // used every day until it is over
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, identity.Options{})
			ann := w.signed(t, "ann")
			first, second := w.signIn(t, "ann"), w.signIn(t, "ann")
			other := w.signed(t, "bob")
			stays := w.signIn(t, "bob")
			w.clock.Add(6 * time.Minute)
			for _, s := range []string{first, second, stays} {
				if _, _, err := w.CheckSession(s); err != nil {
					t.Fatalf("before: %v", err)
				}
			}
			if end != nil {
				if err := end(w, ann); err != nil {
					t.Fatal(err)
				}
			} else {
				for range 90 {
					if _, _, err := w.CheckSession(first); err != nil {
						t.Fatalf("while it is used: %v", err)
					}
					w.clock.Add(day)
				}
			}
			for _, when := range []string{"at once", "after its use was written", "after a crash", "after a sweep"} {
				switch when {
				case "after its use was written":
					if err := w.WriteUses(); err != nil {
						t.Fatal(err)
					}
				case "after a crash":
					w.crash(t, identity.Options{})
				case "after a sweep":
					if err := w.Sweep(); err != nil {
						t.Fatal(err)
					}
				}
				for _, s := range []string{first, second} {
					if _, _, err := w.CheckSession(s); !errors.Is(err, identity.ErrNoCredential) {
						t.Errorf("%s: got %v, want ErrNoCredential", when, err)
					}
				}
			}
			if _, u, err := w.CheckSession(stays); name != "idle" && name != "expired" && (err != nil || u.ID != other.ID) {
				t.Errorf("the session of another: got %+v, %v", u, err)
			}
		})
	}
}

// A session that is used does not become idle, over a restart too.
func TestSessionUse(t *testing.T) {
	w := newWorld(t, identity.Options{})
	w.signed(t, "ann")
	secret := w.signIn(t, "ann")
	for range 3 {
		w.clock.Add(13 * day)
		if _, _, err := w.CheckSession(secret); err != nil {
			t.Fatal(err)
		}
		if err := w.Sweep(); err != nil {
			t.Fatal(err)
		}
		w.crash(t, identity.Options{})
	}
}

// records returns the ids of the records of a kind.
func (w *world) records(t testing.TB, kind store.RecordKind) (ids []string) {
	t.Helper()
	err := w.st.EachRecord(store.RecordRange{Kind: kind}, func(id, _ []byte) (bool, error) {
		ids = append(ids, fmt.Sprintf("%x", id))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// Killing the server does not reset the count of guesses.
func TestLockoutSurvivesACrash(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.signed(t, "ann")
	fail := func(times int) (err error) {
		t.Helper()
		for range times {
			_, _, err = w.SignIn(t.Context(), from, "ann", wrong)
		}
		return err
	}
	locked := func(when string, want bool) {
		t.Helper()
		_, _, err := w.SignIn(t.Context(), from, "ann", right)
		var l *identity.LockedError
		if errors.As(err, &l) != want || !want && err != nil {
			t.Errorf("%s: got %v, want locked: %t", when, err, want)
		}
	}
	// what was counted counts on, and a lock stays
	_ = fail(4)
	w.crash(t, identity.Options{})
	_ = fail(1)
	locked("after four failures, a crash and one more", true)
	w.crash(t, identity.Options{})
	locked("after another crash", true)
	w.clock.Add(31 * time.Minute)
	locked("after 31 minutes", false)

	// what was forgiven stays so: by signing in, by another password, by time
	w.crash(t, identity.Options{})
	_ = fail(4)
	locked("after four failures since then", false)
	_ = fail(4)
	if err := w.SetPassword(t.Context(), identity.Operator, ann.ID, right); err != nil {
		t.Fatal(err)
	}
	w.crash(t, identity.Options{})
	_ = fail(4)
	locked("after four failures since the new password", false)
	_ = fail(4)
	w.clock.Add(2 * time.Hour)
	if err := w.Sweep(); err != nil {
		t.Fatal(err)
	}
	if left := w.records(t, store.RecordLockout); left != nil {
		t.Errorf("lockouts left two hours later: %v", left)
	}
	_ = fail(4)
	if err := w.DeleteUser(identity.Operator, ann.ID); err != nil {
		t.Fatal(err)
	}
	if left := w.records(t, store.RecordLockout); left != nil {
		t.Errorf("lockouts left of who is gone: %v", left)
	}
}

func TestLockout(t *testing.T) {
	w := newWorld(t, identity.Options{})
	w.signed(t, "ann")
	w.signed(t, "bob")
	fail := func(by identity.Author, login string) error {
		t.Helper()
		_, _, err := w.SignIn(t.Context(), by, login, wrong)
		return err
	}
	var locked *identity.LockedError
	for i := range 5 {
		// her name and her address are one
		if err := fail(identity.Author{Address: fmt.Sprint("198.51.100.", i)}, []string{"ann", "ann@example.org"}[i%2]); !errors.Is(err, identity.ErrWrongPassword) {
			t.Fatalf("failure %d: %v", i, err)
		}
	}
	if _, _, err := w.SignIn(t.Context(), from, "ann", right); !errors.As(err, &locked) || locked.Reason == "" {
		t.Fatalf("the right password after 5 failures: got %v, want a LockedError", err)
	}
	w.signIn(t, "bob")
	w.clock.Add(29 * time.Minute)
	if err := fail(from, "ann"); !errors.As(err, &locked) {
		t.Errorf("after 29 minutes: got %v, want a LockedError", err)
	}
	w.clock.Add(2 * time.Minute)
	w.signIn(t, "ann")
	// success forgives, and so does an hour
	for range 3 {
		for range 4 {
			_ = fail(from, "ann")
		}
		w.signIn(t, "ann")
	}
	for range 10 {
		_ = fail(identity.Author{}, "ann")
		w.clock.Add(31 * time.Minute)
	}
	w.signIn(t, "ann")
	// so does the operator
	for range 6 {
		_ = fail(identity.Author{}, "ann")
	}
	ann, _ := w.UserNamed("ann")
	if err := w.SetPassword(t.Context(), identity.Operator, ann.ID, right); err != nil {
		t.Fatal(err)
	}
	w.signIn(t, "ann")
	// a name that there is not is locked as one that there is
	for range 5 {
		_ = fail(identity.Author{}, "nobody")
	}
	if err := fail(identity.Author{}, "nobody"); !errors.As(err, &locked) {
		t.Errorf("an unknown name after 5 failures: got %v, want a LockedError", err)
	}
	// one address cannot go through all names
	attacker := identity.Author{Address: "203.0.113.9"}
	n := 0
	for ; n < 200; n++ {
		if err := fail(attacker, fmt.Sprint("name", n)); errors.As(err, &locked) {
			break
		}
	}
	if n != 50 {
		t.Errorf("an address was locked after %d failures, want 50", n)
	}
	w.signIn(t, "bob") // from elsewhere
}

func TestPasswordRules(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.user(t, "ann")
	robot, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "robot", Service: true})
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]string{
		"short":                      "too short",
		"":                           "too short",
		"ééééééééééé":                "too short", // 11 characters in 22 bytes
		strings.Repeat("x", 1025):    "too long",
		strings.Repeat("x", 1024):    "",
		"twelve chars":               "",
		"\x00 any bytes at all \xff": "",
	} {
		check(t, fmt.Sprintf("%.30q", password), w.SetPassword(t.Context(), identity.Operator, ann.ID, password), want)
	}
	check(t, "of a service account", w.SetPassword(t.Context(), identity.Operator, robot.ID, right), "service account")
	_, err = w.ResetPassword(identity.Operator, robot.ID)
	check(t, "reset of a service account", err, "service account")
	check(t, "of no user", w.SetPassword(t.Context(), identity.Operator, 99, right), "not found")
}

// A hash made at another cost is checked at that cost and made anew.
func TestPasswordUpgrade(t *testing.T) {
	w := newWorld(t, identity.Options{Cost: identity.Cost{MemoryKiB: 8, Passes: 1}})
	ann := w.signed(t, "ann")
	stored := func() string {
		t.Helper()
		v, err := w.st.Record(store.RecordPassword, []byte{0, 0, 0, byte(ann.ID)})
		if err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	if !strings.Contains(stored(), "$argon2id$v=19$m=8,t=1,p=1$") {
		t.Fatalf("got %s", stored())
	}
	w.crash(t, identity.Options{Cost: identity.Cost{MemoryKiB: 16, Passes: 2}})
	if _, _, err := w.SignIn(t.Context(), from, "ann", wrong); !errors.Is(err, identity.ErrWrongPassword) || !strings.Contains(stored(), "m=8,t=1") {
		t.Errorf("after a failure: %v, %s", err, stored())
	}
	w.signIn(t, "ann")
	first := stored()
	if !strings.Contains(first, "$m=16,t=2,p=1$") {
		t.Errorf("after a sign-in: got %s", first)
	}
	w.signIn(t, "ann")
	if stored() != first {
		t.Error("a hash of today's cost was made anew")
	}
}

// Many sign-ins at once are answered, or refused without waiting in a queue
// that grows.
func TestManySignIns(t *testing.T) {
	w := newWorld(t, identity.Options{LockoutAfter: -1, Cost: identity.Cost{MemoryKiB: 4 << 10, Passes: 2}})
	w.signed(t, "ann")
	var (
		wg                    sync.WaitGroup
		mu                    sync.Mutex
		fine, busy, otherwise int
	)
	for range 200 {
		wg.Go(func() {
			_, _, err := w.SignIn(t.Context(), from, "ann", right)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				fine++
			case errors.Is(err, identity.ErrBusy):
				busy++
			default:
				otherwise++
			}
		})
	}
	wg.Wait()
	if fine == 0 || busy == 0 || otherwise > 0 {
		t.Errorf("of 200 at once %d were signed in, %d told to try again, %d failed otherwise; want some, some, none", fine, busy, otherwise)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.SignIn(ctx, from, "ann", right); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestReset(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann, bob := w.signed(t, "ann"), w.signed(t, "bob")
	code, err := w.ResetPassword(identity.Operator, ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.SignIn(t.Context(), from, "ann", right); !errors.Is(err, identity.ErrWrongPassword) {
		t.Errorf("the old password after a reset: %v", err)
	}
	newer, err := w.ResetPassword(identity.Operator, ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func() error{
		"an older code":      func() error { return w.ChoosePassword(t.Context(), from, ann.ID, code, wrong) },
		"another's code":     func() error { return w.ChoosePassword(t.Context(), from, bob.ID, newer, wrong) },
		"no code":            func() error { return w.ChoosePassword(t.Context(), from, ann.ID, "", wrong) },
		"a user without one": func() error { return w.ChoosePassword(t.Context(), from, 99, newer, wrong) },
	} {
		if err := try(); !errors.Is(err, identity.ErrNoCredential) {
			t.Errorf("%s: got %v, want ErrNoCredential", what, err)
		}
	}
	check(t, "a short password", w.ChoosePassword(t.Context(), from, ann.ID, newer, "short"), "too short")
	check(t, "the code", w.ChoosePassword(t.Context(), from, ann.ID, newer, right), "")
	if err := w.ChoosePassword(t.Context(), from, ann.ID, newer, wrong); !errors.Is(err, identity.ErrNoCredential) {
		t.Errorf("the code again: got %v, want ErrNoCredential", err)
	}
	w.signIn(t, "ann")
	late, err := w.ResetPassword(identity.Operator, ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Add(day)
	if _, err := w.CheckReset(ann.ID, late); !errors.Is(err, identity.ErrNoCredential) {
		t.Errorf("a day later: got %v, want ErrNoCredential", err)
	}
}

// Only one of many concurrent requests creates the first user, and none later
// does.
func TestFirstUser(t *testing.T) {
	w := newWorld(t, identity.Options{})
	_, _, err := w.CreateFirstUser(t.Context(), from, identity.NewUser{Name: "a b"}, right)
	check(t, "a bad name", err, "cannot be a name")
	_, _, err = w.CreateFirstUser(t.Context(), from, identity.NewUser{Name: "ann"}, "short")
	check(t, "a short password", err, "too short")
	var wg sync.WaitGroup
	won := make(chan string, 20)
	for i := range cap(won) {
		wg.Go(func() {
			secret, u, err := w.CreateFirstUser(t.Context(), from, identity.NewUser{Name: fmt.Sprint("ann", i), Email: "ann@example.org"}, right)
			switch {
			case err == nil && u.SiteAdmin:
				won <- secret
			case !errors.Is(err, identity.ErrSetUp):
				t.Errorf("got %+v, %v", u, err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d became the first user", len(won))
	}
	if _, u, err := w.CheckSession(<-won); err != nil || !u.SiteAdmin {
		t.Errorf("the session of the first user: got %+v, %v", u, err)
	}
	w.signIn(t, "ann@example.org")
}

func BenchmarkPassword(b *testing.B) {
	w := newWorld(b, identity.Options{Cost: identity.Cost{MemoryKiB: 32 << 10, Passes: 3}})
	w.signed(b, "ann")
	b.ReportAllocs()
	for b.Loop() {
		w.signIn(b, "ann")
	}
}

// The observer gets the outcome of each attempt.
func TestTried(t *testing.T) {
	var got []identity.SignInOutcome
	w := newWorld(t, identity.Options{LockoutAfter: 2, Tried: func(o identity.SignInOutcome) { got = append(got, o) }})
	w.signed(t, "ann")
	for _, password := range []string{right, wrong, wrong, right} {
		_, _, _ = w.SignIn(t.Context(), from, "ann", password) // the outcome is what is tested
	}
	want := []identity.SignInOutcome{identity.SignInDone, identity.SignInWrong, identity.SignInLocks, identity.SignInLockedOut}
	if !slices.Equal(got, want) {
		t.Errorf("right, wrong, wrong, right: got %v, want %v", got, want)
	}
}
