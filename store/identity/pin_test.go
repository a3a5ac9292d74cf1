package identity_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// repository returns a new repository that has these readers in the configuration
// file.
func (w *world) declare(t testing.TB, name string, readers ...string) {
	t.Helper()
	if _, err := w.st.Repositories().New(store.Repository{Name: name}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.DeclareReaders(identity.Operator, name, readers); err != nil {
		t.Fatal(err)
	}
}

// may reports whether a user may see a repository.
func (w *world) may(t testing.TB, repository string, user uint32) bool {
	t.Helper()
	sn := w.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(repository)
	if err != nil {
		t.Fatal(err)
	}
	orgs, err := w.OrgsOf(user)
	if err != nil {
		t.Fatal(err)
	}
	return r.Readers.Allow(user, orgs)
}

// again reads the readers of the file once more, as at each look at it.
func (w *world) again(t testing.TB, name string, readers ...string) {
	t.Helper()
	if _, err := w.DeclareReaders(identity.Operator, name, readers); err != nil {
		t.Fatal(err)
	}
}

// An ordinary user cannot take a name that the configuration file lets in, by an
// organisation, a new name, or that of an account that was deleted.
func TestDeclaredNamesCannotBeTaken(t *testing.T) {
	w := newWorld(t, identity.Options{Declared: map[string][]string{"vault": {"org:lab", "user:carol"}}})
	bob, eve := w.user(t, "bob"), w.user(t, "eve")
	w.declare(t, "vault", "org:lab", "user:carol")
	for _, name := range []string{"lab", "LAB", "carol"} {
		_, err := w.CreateOrg(author(bob), name, "")
		check(t, "an organisation "+name, err, "is reserved: ask a site admin")
		_, err = w.ChangeUser(author(eve), eve.ID, identity.UserChange{Name: &name})
		check(t, "a user renamed "+name, err, "is reserved: ask a site admin")
	}
	carol := w.user(t, "carol")
	if !w.may(t, "vault", carol.ID) {
		t.Error("carol, whom the operator made, may not see the repository")
	}
	if err := w.DeleteUser(identity.Operator, carol.ID); err != nil {
		t.Fatal(err)
	}
	name := "carol"
	_, err := w.ChangeUser(author(eve), eve.ID, identity.UserChange{Name: &name})
	check(t, "the name of a deleted user", err, "is reserved: ask a site admin")
	// Not even one whom the operator gives the name is meant: the pin stays.
	if _, err := w.ChangeUser(identity.Operator, eve.ID, identity.UserChange{Name: &name}); err != nil {
		t.Fatal(err)
	}
	w.again(t, "vault", "org:lab", "user:carol")
	w.crash(t, identity.Options{})
	w.again(t, "vault", "org:lab", "user:carol")
	if w.may(t, "vault", eve.ID) || w.may(t, "vault", bob.ID) {
		t.Error("an account with the name of a deleted one may see the repository")
	}
	pins, err := w.Pins("vault")
	if err != nil || len(pins) != 2 || pins[0].State != identity.PinWaiting || pins[1].State != identity.PinDeleted || pins[1].ID != carol.ID {
		t.Errorf("pins: got %+v, %v", pins, err)
	}
	// The operator says that the new one is meant, and it is logged.
	if p, err := w.Repin(identity.Operator, "user:carol"); err != nil || p.ID != eve.ID || !w.may(t, "vault", eve.ID) {
		t.Errorf("pinned again: got %+v, %v", p, err)
	}
	entries, err := w.Audit(identity.AuditFilter{})
	if text := lines(entries); err != nil || !strings.Contains(text, "(operator): readers.pin user:carol account") {
		t.Errorf("audit log: %v\n%s", err, text)
	}
}

// An account that existed when the file first named it keeps what it was let in
// to under another name, and the one who takes its name gets nothing.
func TestPinFollowsTheAccount(t *testing.T) {
	w := newWorld(t, identity.Options{})
	root, ann, eve := w.admin(t, "root"), w.user(t, "ann"), w.user(t, "eve")
	w.declare(t, "vault", "user:ann")
	anna, name := "anna", "ann"
	if _, err := w.ChangeUser(author(ann), ann.ID, identity.UserChange{Name: &anna}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ChangeUser(author(root), eve.ID, identity.UserChange{Name: &name}); err != nil {
		t.Fatal(err)
	}
	w.again(t, "vault", "user:ann")
	if !w.may(t, "vault", ann.ID) || w.may(t, "vault", eve.ID) {
		t.Errorf("ann, now anna: %t, eve, now ann: %t", w.may(t, "vault", ann.ID), w.may(t, "vault", eve.ID))
	}
	// She may have her name back.
	if _, err := w.ChangeUser(author(root), eve.ID, identity.UserChange{Name: &eve.Name}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ChangeUser(author(ann), ann.ID, identity.UserChange{Name: &name}); err != nil {
		t.Errorf("her own name back: %v", err)
	}
}

// A reader who is made later is let in at that moment, together with those who
// were there; without another look at the file.
func TestDeclaredReaderMadeLater(t *testing.T) {
	var pinned []identity.Pin
	o := identity.Options{
		Declared: map[string][]string{"vault": {"user:zoe", "org:lab"}, "other": {"user:Zoe"}, "third": {"org:zoe"}},
		Pinned:   func(p identity.Pin) { pinned = append(pinned, p) },
	}
	w := newWorld(t, o)
	root, bob := w.admin(t, "root"), w.user(t, "bob")
	lab, err := w.CreateOrg(author(root), "lab", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddMember(identity.Operator, lab.ID, bob.ID); err != nil {
		t.Fatal(err)
	}
	w.declare(t, "vault", "user:zoe", "org:lab")
	w.declare(t, "other", "user:Zoe")
	w.declare(t, "third", "org:zoe")
	if !w.may(t, "vault", bob.ID) {
		t.Error("a missing reader keeps the others out")
	}
	if w.may(t, "other", bob.ID) || w.may(t, "vault", 0) {
		t.Error("a missing reader lets others in")
	}
	zoe, err := w.CreateUser(author(root), identity.NewUser{Name: "zoe"})
	if err != nil {
		t.Fatal(err)
	}
	if !w.may(t, "vault", zoe.ID) || !w.may(t, "other", zoe.ID) || w.may(t, "third", zoe.ID) {
		t.Errorf("zoe: vault %t, other %t, third %t; want the first two", w.may(t, "vault", zoe.ID), w.may(t, "other", zoe.ID), w.may(t, "third", zoe.ID))
	}
	if n := len(pinned); n != 2 || pinned[0].Reader != "org:lab" || pinned[1].Reader != "user:zoe" || pinned[1].ID != zoe.ID || pinned[1].Now != "zoe" {
		t.Errorf("told of %+v", pinned)
	}
}

// A list with a mistake hides the repository.
func TestDeclaredMistakeHides(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.user(t, "ann")
	w.declare(t, "vault", "everyone")
	if !w.may(t, "vault", ann.ID) {
		t.Error("everyone leaves ann out")
	}
	for _, texts := range []string{"user:ann usr:ann", "user:ann everyone", "ann", "user:", "nobody user:ann"} {
		if _, err := w.DeclareReaders(identity.Operator, "vault", []string{"everyone"}); err != nil {
			t.Fatal(err)
		}
		_, err := w.DeclareReaders(identity.Operator, "vault", strings.Fields(texts))
		check(t, texts, err, "is no reader")
		if w.may(t, "vault", ann.ID) {
			t.Errorf("%q lets ann in", texts)
		}
	}
}

// The first user may have a reserved name: only the operator can make it.
func TestFirstUserMayBeDeclared(t *testing.T) {
	w := newWorld(t, identity.Options{Declared: map[string][]string{"vault": {"user:root"}}})
	if _, _, err := w.CreateFirstUser(t.Context(), identity.Author{Via: "setup"}, identity.NewUser{Name: "root"}, right); err != nil {
		t.Error(err)
	}
}
