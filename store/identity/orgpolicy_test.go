package identity_test

import (
	"fmt"
	"testing"

	"github.com/trawlsearch/trawl/store/identity"
)

// A user makes so many organisations and no more; a deleted one makes room. The
// operator and site admins are not bound.
func TestOrganisationsOfAUserAreFew(t *testing.T) {
	w := newWorld(t, identity.Options{Names: identity.NamePolicy{MaxOrgs: 3}})
	root, ann, bob := w.admin(t, "root"), w.user(t, "ann"), w.user(t, "bob")
	var last *identity.Org
	for i := range 3 {
		var err error
		if last, err = w.CreateOrg(author(ann), fmt.Sprint("org", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.CreateOrg(author(ann), "org3", "")
	check(t, "one more", err, "you have made 3 organisations, which is as many as a user may: ask a site admin")
	// Leaving one makes no room, deleting one does.
	if err := w.RemoveMember(author(ann), last.ID, ann.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.CreateOrg(author(ann), "org3", "")
	check(t, "one more after leaving one", err, "you have made 3 organisations")
	if err := w.DeleteOrg(author(root), last.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CreateOrg(author(ann), "org3", ""); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
	w.crash(t, identity.Options{Names: identity.NamePolicy{MaxOrgs: 3}})
	_, err = w.CreateOrg(author(ann), "org4", "")
	check(t, "one more after a crash", err, "you have made 3 organisations")
	if _, err := w.CreateOrg(author(bob), "bobs", ""); err != nil {
		t.Errorf("another user: %v", err)
	}
	for i := range 5 {
		for _, by := range []identity.Author{identity.Operator, author(root)} {
			if _, err := w.CreateOrg(by, fmt.Sprintf("more.%d.%d", by.UserID, i), ""); err != nil {
				t.Errorf("%+v: %v", by, err)
			}
		}
	}
}

// Making organisations and changing one's user name are rights that the settings
// take away.
func TestNamePolicy(t *testing.T) {
	w := newWorld(t, identity.Options{Names: identity.NamePolicy{Orgs: identity.OrgsAdmin, Fixed: true}})
	root, ann := w.admin(t, "root"), w.user(t, "ann")
	_, err := w.CreateOrg(author(ann), "lab", "")
	check(t, "an organisation", err, "only site admins make organisations here")
	if _, err := w.CreateOrg(author(root), "lab", ""); err != nil {
		t.Error(err)
	}
	name, display := "anna", "Ann"
	_, err = w.ChangeUser(author(ann), ann.ID, identity.UserChange{Name: &name})
	check(t, "another name", err, "only site admins change user names here")
	if _, err := w.ChangeUser(author(ann), ann.ID, identity.UserChange{DisplayName: &display, Name: &ann.Name}); err != nil {
		t.Errorf("another display name: %v", err)
	}
	if _, err := w.ChangeUser(author(root), ann.ID, identity.UserChange{Name: &name}); err != nil {
		t.Errorf("by a site admin: %v", err)
	}
}
