package auth_test

import (
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestActor(t *testing.T) {
	ann := &identity.User{ID: 5, Name: "ann"}
	root := &identity.User{ID: 6, Name: "root", SiteAdmin: true}
	open, forAnn, forLab := &store.Repository{}, &store.Repository{Readers: &store.Readers{Users: []uint32{5}}}, &store.Repository{Readers: &store.Readers{Orgs: []uint32{9}}}
	for _, c := range []struct {
		name                 string
		a                    *auth.Actor
		open, forAnn, forLab bool
	}{
		{"nobody", auth.From(t.Context()), true, false, false},
		{"ann", &auth.Actor{User: ann}, true, true, false},
		{"ann of the lab", &auth.Actor{User: ann, Orgs: []uint32{9}}, true, true, true},
		{"ann, really root", &auth.Actor{User: ann, Real: root}, true, true, false},
		{"root", &auth.Actor{User: root}, true, true, true},
		{"operator", auth.OperatorActor(), true, true, true},
	} {
		if c.a.CanSee(open) != c.open || c.a.CanSee(forAnn) != c.forAnn || c.a.CanSee(forLab) != c.forLab {
			t.Errorf("%s: got %t %t %t, want %t %t %t", c.name, c.a.CanSee(open), c.a.CanSee(forAnn), c.a.CanSee(forLab), c.open, c.forAnn, c.forLab)
		}
	}
	with := func(a *auth.Actor) *auth.Actor { return auth.From(auth.WithActor(t.Context(), a)) }
	nobody := auth.From(t.Context())
	text := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	if a := with(&auth.Actor{User: root}); a.Is(5) || !a.Is(root.ID) || auth.OperatorActor().Is(0) || auth.OperatorActor().UserID() != 0 {
		t.Error("Is and UserID tell users apart wrongly")
	}
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"user: nobody", auth.RequireSignedIn(nobody), "not authenticated"}, {"user: ann", auth.RequireSignedIn(with(&auth.Actor{User: ann})), ""},
		{"admin: nobody", auth.RequireSiteAdmin(nobody), "not authenticated"},
		{"admin: ann", auth.RequireSiteAdmin(with(&auth.Actor{User: ann, Real: root})), "must be site admin"},
		{"admin: root", auth.RequireSiteAdmin(with(&auth.Actor{User: root})), ""}, {"admin: operator", auth.RequireSiteAdmin(with(auth.OperatorActor())), ""},
		{"self or admin: ann", auth.RequireSelfOrSiteAdmin(with(&auth.Actor{User: ann}), 5), ""},
		{"self or admin: root", auth.RequireSelfOrSiteAdmin(with(&auth.Actor{User: root}), 5), ""},
		{"self or admin: nobody", auth.RequireSelfOrSiteAdmin(nobody, 5), "must be authenticated as the authorized user or site admin"},
		{"member: ann", auth.RequireMember(with(&auth.Actor{User: ann, Orgs: []uint32{9}}), 9), ""},
		{"member of another: ann", auth.RequireMember(with(&auth.Actor{User: ann, Orgs: []uint32{9}}), 8), "current user is not an org member"},
	} {
		if got := text(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}
