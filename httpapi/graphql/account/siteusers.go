package account

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/identity"
)

// dateRange is the input SiteUsersDateRangeInput.
type dateRange struct {
	Gte, Lte   *wire.DateTime
	Empty, Not wire.Bool
}

// fits tells whether a time, zero for none, lies in the range; every time lies
// in a range that was not given.
func (d *dateRange) fits(t time.Time) bool {
	if d == nil {
		return true
	}
	if d.Empty.Value != nil {
		return *d.Empty.Value == t.IsZero()
	}
	in := !t.IsZero() && (d.Gte == nil || !t.Before(d.Gte.Time)) && (d.Lte == nil || !t.After(d.Lte.Time))
	return in != d.Not.Or(false)
}

// numberRange is the input SiteUsersNumberRangeInput.
type numberRange struct{ Gte, Lte *float64 }

func (n *numberRange) fits(v float64) bool {
	return n == nil || (n.Gte == nil || v >= *n.Gte) && (n.Lte == nil || v <= *n.Lte)
}

// Users are all users, for site admins.
func (s *site) Users(args struct {
	Query                              wire.String
	SiteAdmin                          wire.Bool
	Username, Email                    wire.String
	LastActiveAt, DeletedAt, CreatedAt *dateRange
	EventsCount                        *numberRange
}) (*siteUsers, error) {
	if err := s.s.MustAdmin(); err != nil {
		return nil, err
	}
	out := &siteUsers{}
	_, err := s.s.usersBut(func(u *identity.User) (bool, error) {
		last, err := s.s.Registry.LastActive(u.ID)
		hasEmail := slices.ContainsFunc(u.Emails, func(e identity.Email) bool { return HoldsFold(e.Address, args.Email.Or("")) })
		if holdsUser(u, args.Query.Or("")) && HoldsFold(u.Name, args.Username.Or("")) && (args.Email.Or("") == "" || hasEmail) &&
			(args.SiteAdmin.Value == nil || *args.SiteAdmin.Value == u.SiteAdmin) &&
			args.LastActiveAt.fits(last) && args.CreatedAt.fits(u.Created) && args.DeletedAt.fits(time.Time{}) && args.EventsCount.fits(0) {
			out.all = append(out.all, &siteUser{u, last})
		}
		return true, err
	})
	if err == nil {
		err = s.s.Hold(rowBytesOfPeople * len(out.all))
	}
	return out, err
}

// siteUsers is the type SiteUsers.
type siteUsers struct{ all []*siteUser }

// TotalCount is a float, as the API has it.
func (s *siteUsers) TotalCount() float64 { return float64(len(s.all)) }

// Nodes are sorted by name unless said otherwise.
func (s *siteUsers) Nodes(args struct {
	Limit, Offset wire.Int
	OrderBy       wire.String
	Descending    wire.Bool
}) []*siteUser {
	all := slices.Clone(s.all)
	order := args.OrderBy.Or("USERNAME")
	slices.SortStableFunc(all, func(a, b *siteUser) int {
		c := cmp.Or(a.compare(b, order), strings.Compare(strings.ToLower(a.u.Name), strings.ToLower(b.u.Name)))
		if args.Descending.Or(false) {
			return -c
		}
		return c
	})
	from := min(max(int(args.Offset.Or(0)), 0), len(all))
	to := min(from+wire.PageLength(args.Limit.Or(0), maxUsers), len(all))
	return append([]*siteUser{}, all[from:to]...)
}

// siteUser is the type SiteUser.
type siteUser struct {
	u    *identity.User
	last time.Time
}

func (s *siteUser) ID() graphql.ID               { return wire.NewID(wire.KindUser, s.u.ID) }
func (s *siteUser) Username() string             { return s.u.Name }
func (s *siteUser) DisplayName() *string         { return wire.TextOrNull(s.u.DisplayName) }
func (s *siteUser) Email() *string               { return wire.TextOrNull(s.u.PrimaryEmail()) }
func (s *siteUser) CreatedAt() wire.DateTime     { return wire.DateTime{Time: s.u.Created} }
func (s *siteUser) LastActiveAt() *wire.DateTime { return wire.TimeOrNull(s.last) }
func (s *siteUser) DeletedAt() *wire.DateTime    { return nil }
func (s *siteUser) SiteAdmin() bool              { return s.u.SiteAdmin }
func (s *siteUser) SCIMControlled() bool         { return false }
func (s *siteUser) EventsCount() float64         { return 0 }
func (s *siteUser) Locked() bool                 { return s.u.Locked }

func (s *siteUser) compare(o *siteUser, order string) int {
	switch order {
	case "DISPLAY_NAME":
		return strings.Compare(s.u.DisplayName, o.u.DisplayName)
	case "EMAIL":
		return strings.Compare(s.u.PrimaryEmail(), o.u.PrimaryEmail())
	case "LAST_ACTIVE_AT":
		return s.last.Compare(o.last)
	case "CREATED_AT":
		return s.u.Created.Compare(o.u.Created)
	case "SITE_ADMIN":
		return wire.Rank(s.u.SiteAdmin) - wire.Rank(o.u.SiteAdmin)
	}
	return 0
}
