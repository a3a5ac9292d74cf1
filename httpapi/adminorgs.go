package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

func listOrgs(reg *identity.Registry, _ http.ResponseWriter, _ *http.Request) (any, error) {
	orgs, err := reg.Orgs()
	if err != nil {
		return nil, err
	}
	out := make([]AdminOrg, len(orgs))
	for i, o := range orgs {
		if out[i], err = newAdminOrg(reg, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func createOrg(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var n AdminOrg
	if err := decodeAdmin(w, r, &n); err != nil {
		return nil, err
	}
	o, err := reg.CreateOrg(author(r), n.Name, n.DisplayName)
	if err != nil {
		return nil, err
	}
	return newAdminOrg(reg, o)
}

// namedOrg returns the organisation that the parameter name names.
func namedOrg(reg *identity.Registry, r *http.Request) (*identity.Org, error) {
	name, err := adminName(r)
	if err != nil {
		return nil, err
	}
	return reg.OrgNamed(name)
}

func deleteOrg(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	o, err := namedOrg(reg, r)
	if err != nil {
		return nil, err
	}
	return nil, reg.DeleteOrg(author(r), o.ID)
}

func addMember(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	return nil, changeMember(reg, r, reg.AddMember)
}

func removeMember(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	return nil, changeMember(reg, r, reg.RemoveMember)
}

func changeMember(reg *identity.Registry, r *http.Request, change func(by identity.Author, org, user uint32) error) error {
	o, err := namedOrg(reg, r)
	if err != nil {
		return err
	}
	u, err := named(reg, r, "user")
	if err != nil {
		return err
	}
	return change(author(r), o.ID, u.ID)
}

func setReaders(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var readers []string
	if err := decodeAdmin(w, r, &readers); err != nil {
		return nil, err
	}
	name, err := adminName(r)
	if err != nil {
		return nil, err
	}
	repo, err := reg.SetReaders(author(r), name, readers)
	if err != nil {
		return nil, err
	}
	return reg.FormatReaders(repo.Readers)
}

// serveReaders answers with who may see a repository.
func (a *Admin) serveReaders(repos Repositories, w http.ResponseWriter, r *http.Request) error {
	name, err := adminName(r)
	if err != nil {
		return err
	}
	all, err := repos.List(r.Context())
	if err != nil {
		return adminError(err)
	}
	i := slices.IndexFunc(all, func(repo *store.Repository) bool { return repo.Name == name })
	if i < 0 {
		return adminError(fmt.Errorf("repository %q: %w", name, store.ErrNotFound))
	}
	texts, err := a.Registry().FormatReaders(all[i].Readers)
	if err != nil {
		return adminError(err)
	}
	return serveJSON(w, texts)
}

// listAudit answers with entries of the audit log, newest first.
func listAudit(reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	var f identity.AuditFilter
	q := r.URL.Query()
	if q.Get("user") != "" {
		u, err := named(reg, r, "user")
		if err != nil {
			return nil, err
		}
		f.User = u.ID
	}
	var err error
	if text := q.Get("since"); text != "" {
		if f.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, &identity.RuleError{Text: "since is no time: " + err.Error()}
		}
	}
	if text := q.Get("limit"); text != "" {
		if f.Limit, err = strconv.Atoi(text); err != nil || f.Limit < 1 {
			return nil, &identity.RuleError{Text: strconv.Quote(text) + " is no number of entries"}
		}
	}
	entries, err := reg.Audit(f)
	if err != nil {
		return nil, err
	}
	out := make([]AdminEntry, len(entries))
	for i, e := range entries {
		out[i] = AdminEntry{ID: e.ID, Entry: e}
	}
	return out, nil
}
