package identity_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// cheap is a cost that lets tests hash often.
var cheap = identity.Cost{MemoryKiB: 8, Passes: 1}

// world is a registry for a test, on a file system that can crash.
type world struct {
	*identity.Registry
	st    *store.Store
	clock *clock.Clock
	fs    *vfs.MemFS
	// ended counts the calls of Options.Ended.
	ended atomic.Int32
}

func newWorld(t testing.TB, o identity.Options) *world {
	t.Helper()
	w := &world{clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), fs: vfs.NewCrashableMem()}
	w.open(t, w.fs, o)
	t.Cleanup(func() {
		if err := w.st.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) open(t testing.TB, fs vfs.FS, o identity.Options) {
	t.Helper()
	if o.Cost == (identity.Cost{}) {
		o.Cost = cheap
	}
	o.Now = w.clock.Now
	o.Ended = func() { w.ended.Add(1) }
	var err error
	if w.st, err = store.Open("data", store.Options{FS: fs, CacheBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if w.Registry, err = identity.Open(w.st, o); err != nil {
		t.Fatal(err)
	}
}

// crash opens what is on disk now, as after a kill -9.
func (w *world) crash(t testing.TB, o identity.Options) {
	t.Helper()
	fs := w.fs.CrashClone(vfs.CrashCloneCfg{})
	if err := w.st.Close(); err != nil {
		t.Fatal(err)
	}
	w.fs = fs
	w.open(t, fs, o)
}

func (w *world) user(t testing.TB, name string) *identity.User {
	t.Helper()
	u, err := w.CreateUser(identity.Operator, identity.NewUser{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (w *world) admin(t testing.TB, name string) *identity.User {
	t.Helper()
	u, err := w.CreateUser(identity.Operator, identity.NewUser{Name: name, SiteAdmin: true})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// author is a user as who does something.
func author(u *identity.User) identity.Author { return identity.Author{UserID: u.ID, User: u.Name} }

// check fails unless err contains want, or is nil for "".
func check(t testing.TB, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got error %v, want %q in it", what, err, want)
	}
}

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "A": true, "_": true, "7": true, "ann": true, "ann-lee": true, "ann.lee": true, "ann_lee": true, "a-b.c": true,
		"ann-": true, strings.Repeat("x", 255): true,
		// what would look like an option, a path, or another name
		"": false, "-ann": false, ".ann": false, "ann.": false, "ann--lee": false, "ann..lee": false, "ann.-lee": false, "..": false,
		"a/b": false, "a b": false, "a@b": false, "a:b": false, strings.Repeat("x", 256): false,
		// what would break a header, a log line or a page
		"a\nb": false, "ann\n": false, "a\rb": false, "a\x00": false, "a\"b": false, "a,b": false, "<b>": false, "änn": false, "a\u202eb": false,
	} {
		if err := identity.CheckName(name); (err == nil) != good {
			t.Errorf("CheckName(%q): got %v, want good %t", name, err, good)
		}
	}
}

func TestUsers(t *testing.T) {
	w := newWorld(t, identity.Options{})
	if w.Used() {
		t.Error("Used: got true before there was a user")
	}
	ann, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "Ann", DisplayName: "Ann Lee", Email: "Ann@example.org", EmailVerified: true, SiteAdmin: true})
	if err != nil {
		t.Fatal(err)
	}
	bob := w.user(t, "bob")
	if !w.Used() || ann.ID == bob.ID {
		t.Errorf("Used: %t; ids %d and %d", w.Used(), ann.ID, bob.ID)
	}
	for _, c := range []struct {
		what string
		find func() (*identity.User, error)
		want string // a name, "" for not found
	}{
		{"name", func() (*identity.User, error) { return w.UserNamed("ann") }, "Ann"},
		{"name in capitals", func() (*identity.User, error) { return w.UserNamed("BOB") }, "bob"},
		{"unknown name", func() (*identity.User, error) { return w.UserNamed("carl") }, ""},
		{"address", func() (*identity.User, error) { return w.UserWithEmail("ann@EXAMPLE.org") }, "Ann"},
		{"id", func() (*identity.User, error) { return w.User(bob.ID) }, "bob"},
		{"unknown id", func() (*identity.User, error) { return w.User(99) }, ""},
	} {
		u, err := c.find()
		if c.want == "" && !errors.Is(err, store.ErrNotFound) || c.want != "" && (err != nil || u.Name != c.want) {
			t.Errorf("by %s: got %+v, %v; want %q", c.what, u, err, c.want)
		}
	}

	// what is refused leaves no trace
	for _, c := range []struct {
		n    identity.NewUser
		want string
	}{
		{identity.NewUser{Name: "ANN"}, "already exists"},
		{identity.NewUser{Name: "a b"}, "cannot be a name"},
		{identity.NewUser{Name: "x", Email: "ann@example.org", EmailVerified: true}, "already exists"},
		{identity.NewUser{Name: "x", Email: "Ann <ann@example.org>"}, "no e-mail address"},
		{identity.NewUser{Name: "x", Email: "a@b\r\nBcc: c@d"}, "no e-mail address"},
		{identity.NewUser{Name: "x", DisplayName: "a\nb"}, "cannot be shown"},
		{identity.NewUser{Name: "x", Service: true, Email: "x@y.z"}, "no e-mail address"},
	} {
		_, err := w.CreateUser(identity.Operator, c.n)
		check(t, fmt.Sprintf("CreateUser(%+v)", c.n), err, c.want)
	}
	if all, err := w.Users(); err != nil || len(all) != 2 {
		t.Errorf("Users: got %d, %v; want 2", len(all), err)
	}

	// an address that is not verified claims nothing
	if _, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "eve", Email: "ann@example.org"}); err != nil {
		t.Errorf("an unverified address: %v", err)
	}
	if u, _ := w.UserWithEmail("ann@example.org"); u == nil || u.Name != "Ann" {
		t.Errorf("an unverified address took over a verified one: %+v", u)
	}

	// a new name frees the old one
	to := "annie"
	if _, err := w.ChangeUser(author(ann), ann.ID, identity.UserChange{Name: &to}); err != nil {
		t.Fatal(err)
	}
	other := w.user(t, "ann")
	if u, err := w.UserNamed("annie"); err != nil || u.ID != ann.ID || other.ID == ann.ID {
		t.Errorf("after renaming: got %+v, %v", u, err)
	}
	_, err = w.ChangeUser(author(bob), bob.ID, identity.UserChange{Name: &to})
	check(t, "take another's name", err, "already exists")

	// the last site admin
	no, yes := false, true
	_, err = w.ChangeUser(author(ann), ann.ID, identity.UserChange{SiteAdmin: &no})
	check(t, "the last site admin steps down", err, "last site admin")
	_, err = w.ChangeUser(author(ann), ann.ID, identity.UserChange{Locked: &yes})
	check(t, "the last site admin locks herself out", err, "last site admin")
	check(t, "the last site admin goes", w.DeleteUser(author(ann), ann.ID), "last site admin")
	if _, err := w.ChangeUser(author(ann), bob.ID, identity.UserChange{SiteAdmin: &yes}); err != nil {
		t.Fatal(err)
	}
	check(t, "one of two site admins goes", w.DeleteUser(author(bob), ann.ID), "")
	check(t, "goes again", w.DeleteUser(author(bob), ann.ID), "not found")

	// ids are never used again, and having had users is for good
	before := other.ID
	all, _ := w.Users()
	for _, u := range all {
		if err := w.DeleteUser(identity.Operator, u.ID); err != nil {
			t.Fatal(err)
		}
	}
	w.crash(t, identity.Options{})
	if !w.Used() {
		t.Error("Used: got false after the last user was deleted")
	}
	if u := w.user(t, "ann"); u.ID <= before {
		t.Errorf("id %d was given again, or one before %d", u.ID, before)
	}
}

func TestOrgs(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann, bob := w.user(t, "ann"), w.user(t, "bob")
	lab, err := w.CreateOrg(author(ann), "lab", "The Lab")
	if err != nil {
		t.Fatal(err)
	}
	kiln, err := w.CreateOrg(identity.Operator, "kiln", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.CreateOrg(identity.Operator, "BOB", "")
	check(t, "an organisation with a user's name", err, "already exists")
	_, err = w.CreateUser(identity.Operator, identity.NewUser{Name: "Lab"})
	check(t, "a user with an organisation's name", err, "already exists")
	if _, err := w.UserNamed("lab"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("UserNamed of an organisation: %v", err)
	}
	for range 2 { // the second changes nothing
		check(t, "add", w.AddMember(author(ann), lab.ID, bob.ID), "")
	}
	check(t, "add", w.AddMember(author(ann), kiln.ID, bob.ID), "")
	check(t, "add a user who is not there", w.AddMember(author(ann), lab.ID, 99), "not found")
	members, err := w.Members(lab.ID)
	if want := []uint32{ann.ID, bob.ID}; err != nil || !slices.Equal(members, want) {
		t.Errorf("Members: got %v, %v; want %v", members, err, want)
	}
	orgs, err := w.OrgsOf(bob.ID)
	if want := []uint32{lab.ID, kiln.ID}; err != nil || !slices.Equal(orgs, want) {
		t.Errorf("OrgsOf: got %v, %v; want %v", orgs, err, want)
	}
	check(t, "remove", w.RemoveMember(author(ann), lab.ID, ann.ID), "")
	check(t, "delete a user", w.DeleteUser(identity.Operator, bob.ID), "")
	for _, o := range []*identity.Org{lab, kiln} {
		if m, err := w.Members(o.ID); err != nil || len(m) > 0 {
			t.Errorf("members of %s: got %v, %v; want none", o.Name, m, err)
		}
	}
	check(t, "delete", w.DeleteOrg(identity.Operator, lab.ID), "")
	if _, err := w.OrgNamed("lab"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("OrgNamed after DeleteOrg: %v", err)
	}
	if _, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "lab"}); err != nil {
		t.Errorf("the name of a deleted organisation: %v", err)
	}
	if all, err := w.Orgs(); err != nil || len(all) != 1 || all[0].Name != "kiln" {
		t.Errorf("Orgs: got %v, %v; want kiln", all, err)
	}
}

func TestReaders(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.user(t, "ann")
	lab, err := w.CreateOrg(author(ann), "lab", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.st.Repositories().New(store.Repository{Name: "kiln"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		texts, want string // how they are read again, or part of an error
		good        bool
	}{
		{"user:ann org:lab", "user:ann org:lab", true},
		{"org:LAB org:lab", "org:lab", true},
		{"nobody", "nobody", true},
		{"everyone", "everyone", true},
		{"user:none", "not found", false},
		{"user:lab", "not found", false},
		{"ann", "is no reader", false},
		{"everyone user:ann", "is no reader", false},
		{"", "say who", false},
	} {
		repo, err := w.SetReaders(author(ann), "kiln", strings.Fields(c.texts))
		if !c.good {
			check(t, c.texts, err, c.want)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.texts, err)
			continue
		}
		got, err := w.FormatReaders(repo.Readers)
		if text := strings.Join(got, " "); err != nil || text != c.want {
			t.Errorf("%q: got %q, %v; want %q", c.texts, text, err, c.want)
		}
	}
	_, err = w.SetReaders(author(ann), "none", []string{"nobody"})
	check(t, "an unknown repository", err, "not found")

	// the ID of a deleted user lets no later user of that name in
	if _, err := w.SetReaders(author(ann), "kiln", []string{"user:ann", "org:lab"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.DeleteUser(identity.Operator, ann.ID), w.DeleteOrg(identity.Operator, lab.ID)); err != nil {
		t.Fatal(err)
	}
	second := w.user(t, "ann")
	sn := w.st.Snapshot()
	defer sn.Close()
	repo, _ := sn.Repository("kiln")
	if repo.Readers.Allow(second.ID, nil) {
		t.Error("a new user with the name of a deleted one may read what she might")
	}
	entries, err := w.Audit(identity.AuditFilter{})
	last := slices.IndexFunc(entries, func(e identity.Entry) bool { return e.Action == identity.ActionReaders })
	if err != nil || last < 0 || entries[last].Detail != "user:ann org:lab" || entries[last].Target != "repository:kiln" {
		t.Errorf("audit log: got %+v, %v", entries, err)
	}
}

// Readers that a code host says are changed there, but those of the configuration file
// take their place, and the host's do not come back.
func TestReadersOfAHost(t *testing.T) {
	w := newWorld(t, identity.Options{Declared: map[string][]string{"kiln": {"user:ann"}}})
	ann, bob := w.user(t, "ann"), w.user(t, "bob")
	r, err := w.st.Repositories().New(store.Repository{Name: "kiln", Source: "https://host.invalid/kiln"})
	if err != nil {
		t.Fatal(err)
	}
	follow := func() {
		t.Helper()
		if _, err := w.st.Repositories().FollowHost(r.ID, store.HostChange{
			Origin: &store.Origin{Service: 1, ID: "7", Readers: true}, Readers: &store.ReadersChange{To: &store.Readers{Users: []uint32{ann.ID, bob.ID}}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	follow()
	_, err = w.SetReaders(author(ann), "kiln", []string{"user:ann"})
	check(t, "readers of a host", err, "change that there")
	if !w.may(t, "kiln", bob.ID) {
		t.Error("bob, whom the host names, may not see it")
	}
	for range 2 {
		w.again(t, "kiln", "user:ann")
		follow()
		if w.may(t, "kiln", bob.ID) || !w.may(t, "kiln", ann.ID) {
			t.Error("the host's readers have taken the place of those of the file")
		}
	}
	if _, err := w.SetReaders(author(ann), "kiln", []string{"user:bob"}); err != nil {
		t.Error(err)
	}
}

// TestPanicInAChange: a change that panics keeps no later one from being heard of.
func TestPanicInAChange(t *testing.T) {
	w := newWorld(t, identity.Options{})
	func() {
		defer func() { _ = recover() }()
		_ = w.Update(identity.Operator, func(*identity.Tx) error { panic("broken") })
	}()
	before := w.ended.Load()
	var c store.Records
	c.Put(store.RecordUser, []byte{0, 0, 0, 9}, []byte("{}"))
	if err := w.st.CommitRecords(&c); err != nil {
		t.Fatal(err)
	}
	if w.ended.Load() == before {
		t.Error("nothing was heard of a change of a user")
	}
	if _, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "ann"}); err != nil {
		t.Error(err)
	}
}
