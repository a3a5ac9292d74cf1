package settings

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store/identity"
)

// orgsData is what the list of organisations shows.
type orgsData struct {
	frame
	paging
	Orgs []orgRow
}

// orgRow is an organisation with the names of its members.
type orgRow struct {
	*identity.Org
	Path    string
	Members []string
	// More counts the members that are not shown.
	More int
}

func (d *orgsData) fill(v *visit) error {
	q, all := searchedFor(v.r), []listed{}
	err := v.Registry.EachOrg(func(o *identity.Org) {
		if matches(q, o.Name, o.DisplayName) {
			all = append(all, listed{strings.ToLower(o.Name), o.ID})
		}
	})
	if err != nil {
		return err
	}
	byName(all)
	d.paging = newPaging(v.r, d.Path, len(all))
	for _, l := range shown(d.paging, all) {
		o, err := v.Registry.Org(l.id)
		if isGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		row := orgRow{Org: o, Path: d.Path + "/" + url.PathEscape(o.Name)}
		if row.Members, row.More, err = v.MemberNames(o.ID, namesShown); err != nil {
			return err
		}
		d.Orgs = append(d.Orgs, row)
	}
	return nil
}

func createOrg(v *visit) (answer, error) {
	_, err := v.CreateOrg(v.value("name"), v.form.Values["displayName"])
	return answer{did: "saved"}, err
}

// org finds the organisation that the path names.
func org(v *visit) (*identity.Org, error) { return v.Registry.OrgNamed(mux.Vars(v.r)["org"]) }

// orgAndUser also finds the user whom the form names.
func orgAndUser(v *visit) (*identity.Org, *identity.User, error) {
	o, err := org(v)
	if err != nil {
		return nil, nil, err
	}
	u, err := v.Registry.UserNamed(v.value("user"))
	if isGone(err) {
		err = &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "There is no such user"}
	}
	return o, u, err
}

func addMember(v *visit) (answer, error) {
	o, u, err := orgAndUser(v)
	if err == nil {
		err = v.AddMember(o.ID, u.Name)
	}
	return answer{did: "saved"}, err
}

func removeMember(v *visit) (answer, error) {
	o, u, err := orgAndUser(v)
	if err == nil {
		err = v.RemoveMember(o.ID, u.ID)
	}
	return answer{did: "saved"}, err
}

func deleteOrg(v *visit) (answer, error) {
	o, err := org(v)
	if err == nil {
		err = v.DeleteOrg(o.ID)
	}
	return answer{did: "saved"}, err
}
