package settings

import "github.com/trawlsearch/trawl/store/oauth"

// authorisedData is what the list of a user's apps shows.
type authorisedData struct {
	frame
	paging
	Apps []*oauth.Authorised
}

func (d *authorisedData) fill(v *visit) error {
	all, err := v.Apps.Grants.Authorised(d.ID)
	d.paging = newPaging(v.r, d.Path, len(all))
	d.Apps = shown(d.paging, all)
	return err
}

// revokeApp ends all that an app may do for a user. Another request may have been
// faster, which comes to the same.
func revokeApp(v *visit) (answer, error) {
	err := v.RevokeApp(v.subject.ID, v.form.Values["id"])
	if isGone(err) {
		err = nil
	}
	return answer{did: "revoked"}, err
}
