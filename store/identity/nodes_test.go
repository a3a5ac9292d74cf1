package identity_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/identity"
)

// newNodes returns the registries of two nodes that share a log, and the log.
func newNodes(t *testing.T, o identity.Options) (nodes [2]*world, log *memorylog.Log) {
	t.Helper()
	log, at := memorylog.New(1, false), clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
	o.Now, o.Cost = at.Now, cheap
	for i := range nodes {
		w := &world{clock: at}
		var err error
		if w.st, err = store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 1 << 20, Log: log}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := w.st.Close(); err != nil {
				t.Error(err)
			}
		})
		o.Ended = func() { w.ended.Add(1) }
		if w.Registry, err = identity.Open(w.st, o); err != nil {
			t.Fatal(err)
		}
		nodes[i] = w
	}
	return nodes, log
}

func catchUp(t testing.TB, nodes [2]*world) {
	t.Helper()
	for _, w := range nodes {
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Failures to sign in count on whichever nodes they happen, under a user, a name that
// is of nobody, and an address.
func TestLockoutOnNodes(t *testing.T) {
	for _, login := range []string{"ann", "nobody"} {
		t.Run(login, func(t *testing.T) {
			nodes, _ := newNodes(t, identity.Options{})
			nodes[0].signed(t, "ann")
			var locked *identity.LockedError
			for i := range 5 {
				if _, _, err := nodes[i%2].SignIn(t.Context(), from, login, wrong); !errors.Is(err, identity.ErrWrongPassword) {
					t.Fatalf("failure %d: %v", i, err)
				}
			}
			for i, w := range nodes {
				if _, _, err := w.SignIn(t.Context(), from, login, right); !errors.As(err, &locked) {
					t.Errorf("node %d after five failures: %v, want a LockedError", i, err)
				}
			}
			nodes[0].clock.Add(31 * time.Minute)
			if login == "ann" {
				nodes[1].signIn(t, login)
			}
		})
	}
	t.Run("address", func(t *testing.T) {
		nodes, _ := newNodes(t, identity.Options{})
		nodes[0].signed(t, "ann")
		for i := range 50 {
			if _, _, err := nodes[i%2].SignIn(t.Context(), from, fmt.Sprint("nobody", i), wrong); !errors.Is(err, identity.ErrWrongPassword) {
				t.Fatalf("failure %d: %v", i, err)
			}
		}
		for i, w := range nodes {
			var locked *identity.LockedError
			if _, _, err := w.SignIn(t.Context(), from, "ann", right); !errors.As(err, &locked) {
				t.Errorf("node %d after fifty failures from the address: %v, want a LockedError", i, err)
			}
			if _, _, err := w.SignIn(t.Context(), identity.Author{Address: "192.0.2.8"}, "ann", right); err != nil {
				t.Errorf("node %d, from another address: %v", i, err)
			}
		}
	})
}

// Of attempts at the same moment no more than the limit learn whether they were right.
func TestLastAttempt(t *testing.T) {
	const attempts = 12
	for _, login := range []string{"ann", "nobody"} {
		nodes, _ := newNodes(t, identity.Options{LockoutAfter: 3, Cost: cheap})
		nodes[0].signed(t, "ann")
		var mu sync.Mutex
		told, locked := 0, 0
		var wg sync.WaitGroup
		for i := range attempts {
			wg.Go(func() {
				for {
					_, _, err := nodes[i%2].SignIn(t.Context(), from, login, wrong)
					if errors.Is(err, identity.ErrBusy) {
						continue
					}
					mu.Lock()
					defer mu.Unlock()
					switch {
					case errors.Is(err, identity.ErrWrongPassword):
						told++
					case errors.As(err, new(*identity.LockedError)):
						locked++
					default:
						t.Errorf("%s: %v", login, err)
					}
					return
				}
			})
		}
		wg.Wait()
		if told != 3 || locked != attempts-3 {
			t.Errorf("%s: %d attempts were told that they failed, %d that there were too many; want 3 and %d", login, told, locked, attempts-3)
		}
	}
}

// A right password that is checked while others fail for the last time begins no session
// behind them.
func TestRightPasswordBehindTheLastAttempt(t *testing.T) {
	behind := 0
	for range 40 {
		nodes, _ := newNodes(t, identity.Options{LockoutAfter: 1})
		nodes[0].signed(t, "ann")
		catchUp(t, nodes)
		var wg sync.WaitGroup
		var rightErr, wrongErr error
		wg.Go(func() { _, _, wrongErr = nodes[0].SignIn(t.Context(), from, "ann", wrong) })
		wg.Go(func() { _, _, rightErr = nodes[1].SignIn(t.Context(), from, "ann", right) })
		wg.Wait()
		if !errors.Is(wrongErr, identity.ErrWrongPassword) || rightErr != nil && !errors.As(rightErr, new(*identity.LockedError)) {
			t.Fatalf("right: %v, wrong: %v", rightErr, wrongErr)
		}
		catchUp(t, nodes)
		log, err := nodes[0].Audit(identity.AuditFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range log { // newest first
			if e.Action == identity.ActionSignIn && slices.ContainsFunc(log[i:], func(e identity.Entry) bool { return e.Action == identity.ActionSignInLocked }) {
				t.Fatal("a session began when the user was locked")
			}
		}
		if rightErr != nil {
			behind++
		}
	}
	t.Logf("%d of 40 right passwords came behind the last attempt", behind)
}

// What is typed where a name belongs may be a password: no record holds it.
func TestNamesOfNobodyAreNotStored(t *testing.T) {
	w := newWorld(t, identity.Options{})
	const typed = "correct-horse"
	if _, _, err := w.SignIn(t.Context(), from, typed, wrong); !errors.Is(err, identity.ErrWrongPassword) {
		t.Fatal(err)
	}
	n := 0
	err := w.st.EachRecord(store.RecordRange{Kind: store.RecordFailures}, func(id, value []byte) (bool, error) {
		n++
		if bytes.Contains(id, []byte(typed)) || bytes.Contains(value, []byte(typed)) || len(id) != 16 {
			t.Errorf("record %q %q", id, value)
		}
		return true, nil
	})
	if err != nil || n != 2 {
		t.Errorf("%d records, %v; want one of the name and one of the address", n, err)
	}
	w.clock.Add(2 * time.Hour)
	if err := w.Sweep(); err != nil {
		t.Fatal(err)
	}
	_ = w.st.EachRecord(store.RecordRange{Kind: store.RecordFailures}, func(id, _ []byte) (bool, error) {
		t.Errorf("record %q after two hours and a sweep", id)
		return true, nil
	})
}

// Failures that cannot be read lock, and so they stay after a sweep, for half an hour.
func TestDamagedFailuresLock(t *testing.T) {
	w := newWorld(t, identity.Options{})
	w.signed(t, "ann")
	if _, _, err := w.SignIn(t.Context(), from, "nobody", wrong); !errors.Is(err, identity.ErrWrongPassword) {
		t.Fatal(err)
	}
	var c store.Records
	err := w.st.EachRecord(store.RecordRange{Kind: store.RecordFailures}, func(id, _ []byte) (bool, error) {
		c.Put(store.RecordFailures, bytes.Clone(id), []byte(`{"count":-1}`))
		return true, nil
	})
	if err := errors.Join(err, w.st.CommitRecords(&c)); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"damaged", "swept"} {
		if _, _, err := w.SignIn(t.Context(), from, "ann", right); !errors.As(err, new(*identity.LockedError)) {
			t.Errorf("%s: %v, want a LockedError", when, err)
		}
		if err := w.Sweep(); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Add(31 * time.Minute)
	w.signIn(t, "ann")
}

// Two nodes make the first user at the same moment: one of them does.
func TestFirstUserOnNodes(t *testing.T) {
	for range 10 {
		nodes, _ := newNodes(t, identity.Options{})
		var errs [2]error
		var wg sync.WaitGroup
		for i, w := range nodes {
			wg.Go(func() {
				_, _, errs[i] = w.CreateFirstUser(t.Context(), from, identity.NewUser{Name: fmt.Sprint("root", i)}, right)
			})
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else if !errors.Is(err, identity.ErrSetUp) {
				t.Errorf("got %v, want ErrSetUp", err)
			}
		}
		catchUp(t, nodes)
		for i, w := range nodes {
			if all, err := w.Users(); len(all) != 1 || err != nil || !w.Used() {
				t.Errorf("node %d: %d users, %v, used %t", i, len(all), err, w.Used())
			}
		}
		if made != 1 {
			t.Fatalf("%d nodes made the first user, want 1: %v", made, errs)
		}
	}
}

// All nodes have one setup secret, which is over with the first user.
func TestSetupSecretOfNodes(t *testing.T) {
	nodes, _ := newNodes(t, identity.Options{})
	if nodes[0].IsSetupSecret("") {
		t.Error("there is a setup secret before one was made")
	}
	first, err := nodes[0].SetupSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := nodes[1].SetupSecret(t.Context())
	if err != nil || first != second || len(first) < 26 {
		t.Errorf("setup secrets %q and %q, %v", first, second, err)
	}
	for i, w := range nodes {
		if !w.IsSetupSecret(first) || w.IsSetupSecret(first[1:]) || w.IsSetupSecret("") {
			t.Errorf("node %d does not know the setup secret, or takes another", i)
		}
	}
	if _, _, err := nodes[1].CreateFirstUser(t.Context(), from, identity.NewUser{Name: "root"}, right); err != nil {
		t.Fatal(err)
	}
	if _, err := nodes[0].SetupSecret(t.Context()); !errors.Is(err, identity.ErrSetUp) {
		t.Errorf("a setup secret behind the first user: %v", err)
	}
	alone := newWorld(t, identity.Options{})
	if text, err := alone.SetupSecret(t.Context()); err != nil || alone.IsSetupSecret(text) {
		t.Errorf("a store of one machine takes a setup secret of its records: %v", err)
	}
}

// Sessions, tokens and codes are good on all nodes, and end on all.
func TestCredentialsOfNodes(t *testing.T) {
	nodes, _ := newNodes(t, identity.Options{})
	ann := nodes[0].signed(t, "ann")
	session := nodes[1].signIn(t, "ann")
	week := 7 * 24 * time.Hour
	text, token, err := nodes[1].CreateToken(identity.Operator, identity.NewToken{User: ann.ID, Scopes: []string{identity.ScopeAll}, Lifetime: &week})
	if err != nil {
		t.Fatal(err)
	}
	catchUp(t, nodes)
	if _, _, err := nodes[0].CheckSession(session); err != nil {
		t.Errorf("session: %v", err)
	}
	if _, _, err := nodes[0].CheckToken(text); err != nil {
		t.Errorf("token: %v", err)
	}
	before := nodes[1].ended.Load()
	// The node has not applied what it is to change: the change is made nevertheless.
	if err := errors.Join(nodes[0].RevokeToken(identity.Operator, token.ID), nodes[0].SignOut(identity.Operator, ann.ID)); err != nil {
		t.Fatal(err)
	}
	catchUp(t, nodes)
	if nodes[1].ended.Load() == before {
		t.Error("the other node does not hear that credentials have ended")
	}
	for i, w := range nodes {
		if _, _, err := w.CheckSession(session); !errors.Is(err, identity.ErrNoCredential) {
			t.Errorf("node %d, session: %v", i, err)
		}
		if _, _, err := w.CheckToken(text); !errors.Is(err, identity.ErrNoCredential) {
			t.Errorf("node %d, token: %v", i, err)
		}
	}
	code, err := nodes[0].ResetPassword(identity.Operator, ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := nodes[1].ChoosePassword(t.Context(), from, ann.ID, code, right); err != nil {
		t.Errorf("the reset code of another node: %v", err)
	}
	if err := nodes[0].ChoosePassword(t.Context(), from, ann.ID, code, wrong); !errors.Is(err, identity.ErrNoCredential) {
		t.Errorf("the reset code a second time: %v, want ErrNoCredential", err)
	}
}

// The audit log stays as long as it may be, whichever nodes write it.
func TestAuditLogOfNodes(t *testing.T) {
	const most = 20
	nodes, _ := newNodes(t, identity.Options{AuditEntries: most})
	for i := range 3 * most {
		catchUp(t, nodes) // a change that conflicts reads the whole log again
		if err := nodes[i%2].Log(identity.Operator, "test", fmt.Sprint(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	catchUp(t, nodes)
	for i, w := range nodes {
		all, err := w.Audit(identity.AuditFilter{Limit: 10 * most})
		if err != nil || len(all) != most {
			t.Fatalf("node %d: %d entries, %v; want %d", i, len(all), err, most)
		}
		for j, e := range all {
			if want := fmt.Sprint(3*most - 1 - j); e.Target != want {
				t.Errorf("node %d, entry %d is about %s, want %s", i, j, e.Target, want)
			}
		}
	}
}

// Without the log nobody signs in, and nothing is said about the password.
func TestSignInWithoutLog(t *testing.T) {
	nodes, log := newNodes(t, identity.Options{})
	nodes[0].signed(t, "ann")
	log.SetAway(true)
	for _, password := range []string{right, wrong} {
		if _, _, err := nodes[0].SignIn(t.Context(), from, "ann", password); !errors.Is(err, store.ErrAway) {
			t.Errorf("password %q: %v, want ErrAway", password, err)
		}
	}
}
