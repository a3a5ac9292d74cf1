package account

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/jsonc"
	"github.com/trawlsearch/trawl/store/saved"
)

// settingsSubject is the interface SettingsSubject: one of user, org, site and
// defaults.
type settingsSubject struct{ settingsOwner }

// settingsOwner is what has settings.
type settingsOwner interface {
	ID() graphql.ID
	LatestSettings() (*settings, error)
	SettingsURL() *string
	ViewerCanAdminister() bool
	SettingsCascade() (*settingsCascade, error)
	subject() saved.Subject
	// mayRead says why the client may not see the settings.
	mayRead() error
}

func (s *settingsSubject) ToUser() (*User, bool) { v, ok := s.settingsOwner.(*User); return v, ok }
func (s *settingsSubject) ToOrg() (*Org, bool)   { v, ok := s.settingsOwner.(*Org); return v, ok }
func (s *settingsSubject) ToSite() (*site, bool) { v, ok := s.settingsOwner.(*site); return v, ok }
func (s *settingsSubject) ToDefaultSettings() (*defaults, bool) {
	v, ok := s.settingsOwner.(*defaults)
	return v, ok
}

// defaults is the type DefaultSettings: there are none.
type defaults struct{ s *Session }

const defaultsKey = "default"

func (d *defaults) ID() graphql.ID                     { return wire.NewID(wire.KindDefaultSettings, defaultsKey) }
func (d *defaults) LatestSettings() (*settings, error) { return nil, nil }
func (d *defaults) SettingsURL() *string               { return nil }
func (d *defaults) ViewerCanAdminister() bool          { return false }
func (d *defaults) subject() saved.Subject             { return saved.Subject{Kind: saved.SubjectDefault} }
func (d *defaults) mayRead() error                     { return nil }

func (s *site) subject() saved.Subject { return saved.Subject{Kind: saved.SubjectSite} }
func (s *site) mayRead() error         { return nil }
func (u *User) mayRead() error         { return u.s.mustBeSelf(u.u.ID) }
func (o *Org) mayRead() error          { return o.mustBeMember() }

// settings is the type Settings.
type settings struct {
	s     *Session
	owner settingsOwner
	v     *saved.Settings
}

func (s *settings) ID() int32                 { return wire.Int32(s.v.ID) }
func (s *settings) Contents() string          { return s.v.Contents }
func (s *settings) CreatedAt() wire.DateTime  { return wire.DateTime{Time: s.v.Created} }
func (s *settings) Subject() *settingsSubject { return &settingsSubject{s.owner} }

// Author is null for the operator, and for who is gone.
func (s *settings) Author() (*User, error) { return s.s.UserByID(s.v.Author) }

// latest returns the settings of a subject, nil if there are none.
func (s *Session) latest(of settingsOwner) (*settings, error) {
	if err := of.mayRead(); err != nil {
		return nil, err
	}
	v, err := s.Book.Settings.Latest(of.subject())
	if err != nil || v == nil {
		return nil, err
	}
	return &settings{s, of, v}, nil
}

// LatestSettings is for the user and site admins.
func (u *User) LatestSettings() (*settings, error) { return u.s.latest(u) }

// LatestSettings is for members and site admins.
func (o *Org) LatestSettings() (*settings, error) { return o.s.latest(o) }

// LatestSettings is what holds for everybody.
func (s *site) LatestSettings() (*settings, error) { return s.s.latest(s) }

// settingsCascade is the type SettingsCascade.
type settingsCascade struct {
	s      *Session
	owners []settingsOwner
}

func (s *Session) everybody() []settingsOwner { return []settingsOwner{&defaults{s}, &site{s: s}} }

// SettingsCascade is the defaults alone.
func (d *defaults) SettingsCascade() (*settingsCascade, error) {
	return &settingsCascade{d.s, []settingsOwner{d}}, nil
}

// SettingsCascade is what holds for everybody.
func (s *site) SettingsCascade() (*settingsCascade, error) {
	return &settingsCascade{s.s, s.s.everybody()}, nil
}

// SettingsCascade is for members and site admins.
func (o *Org) SettingsCascade() (*settingsCascade, error) {
	return &settingsCascade{o.s, append(o.s.everybody(), o)}, o.mayRead()
}

// SettingsCascade is for the user and site admins.
func (u *User) SettingsCascade() (*settingsCascade, error) {
	owners := u.s.everybody()
	orgs, err := u.orgs()
	if err != nil {
		return nil, err
	}
	for _, o := range orgs {
		owners = append(owners, o)
	}
	return &settingsCascade{u.s, append(owners, u)}, nil
}

// ViewerSettings is what holds for the client.
func (*Root) ViewerSettings(ctx context.Context) (*settingsCascade, error) {
	s := Of(ctx)
	if s.Actor.User == nil {
		return &settingsCascade{s, s.everybody()}, nil
	}
	return (&User{s, s.Actor.User}).SettingsCascade()
}

// Subjects are those whose settings count.
func (c *settingsCascade) Subjects() []*settingsSubject {
	out := []*settingsSubject{}
	for _, o := range c.owners {
		out = append(out, &settingsSubject{o})
	}
	return out
}

// Final is all of them merged.
func (c *settingsCascade) Final() (string, error) {
	merged := map[string]any{}
	for _, o := range c.owners {
		v, err := c.s.Book.Settings.Latest(o.subject())
		if err != nil {
			return "", err
		}
		if v == nil {
			continue
		}
		var own map[string]any
		if err := jsonc.Unmarshal(v.Contents, &own); err != nil {
			return "", fmt.Errorf("settings %d: %w", v.ID, err)
		}
		merge(merged, own)
	}
	text, err := json.MarshalIndent(merged, "", "  ")
	return string(text), err
}

// merge puts the members of over into base; objects on both sides are joined.
func merge(base, over map[string]any) {
	for key, value := range over {
		below, ok1 := base[key].(map[string]any)
		above, ok2 := value.(map[string]any)
		if ok1 && ok2 {
			merge(below, above)
			continue
		}
		base[key] = value
	}
}

// SettingsSubject finds what has settings; null is none, or one that may not be
// seen.
func (*Root) SettingsSubject(ctx context.Context, args struct{ ID graphql.ID }) (*settingsSubject, error) {
	owner, err := Of(ctx).ownerOf(args.ID)
	if err != nil || owner == nil {
		return nil, err
	}
	return &settingsSubject{owner}, nil
}

// ownerOf returns nil for none.
func (s *Session) ownerOf(id graphql.ID) (settingsOwner, error) {
	switch wire.KindOf(id) {
	case wire.KindUser:
		if u, err := s.userOf(id); err != nil || u != nil {
			return u, err
		}
	case wire.KindOrg:
		if o, err := s.orgOf(id); err != nil || o != nil {
			return o, err
		}
	case wire.KindSite:
		return &site{s: s}, nil
	case wire.KindDefaultSettings:
		return &defaults{s}, nil
	default:
		return nil, wire.ErrID
	}
	return nil, nil
}

// settingsMutation is the type SettingsMutation.
type settingsMutation struct {
	s     *Session
	owner settingsOwner
	last  uint32
}

// SettingsMutation is for who may administer the subject.
func (*Root) SettingsMutation(ctx context.Context, args struct {
	Input struct {
		Subject graphql.ID
		LastID  wire.Int
	}
}) (*settingsMutation, error) {
	s := Of(ctx)
	owner, err := s.ownerOf(args.Input.Subject)
	switch {
	case err != nil:
		return nil, err
	case owner == nil:
		return nil, wire.Refuse("there is nothing with this id that has settings")
	case !owner.ViewerCanAdminister():
		return nil, s.mayNotWrite(owner)
	}
	return &settingsMutation{s, owner, uint32(max(args.Input.LastID.Or(0), 0))}, nil
}

// mayNotWrite says why.
func (s *Session) mayNotWrite(owner settingsOwner) error {
	switch owner.(type) {
	case *User:
		return wire.Permit(auth.ErrNotSelf)
	case *Org:
		return wire.Permit(auth.ErrNotMember)
	case *site:
		return wire.Permit(auth.ErrNotSiteAdmin)
	}
	return wire.Refuse("nobody can change the defaults: change the settings of the site")
}

// settingsChanged is the type UpdateSettingsPayload.
type settingsChanged struct{ Empty *wire.Empty }

func (m *settingsMutation) change(f func(string) (string, error)) (*settingsChanged, error) {
	_, err := m.s.Book.Settings.Change(m.owner.subject(), m.s.Actor.UserID(), m.last, f)
	return &settingsChanged{&wire.Empty{}}, Told(err)
}

// OverwriteSettings writes them anew.
func (m *settingsMutation) OverwriteSettings(args struct{ Contents string }) (*settingsChanged, error) {
	return m.change(func(string) (string, error) { return checkSettings(args.Contents) })
}

// EditSettings changes one value.
func (m *settingsMutation) EditSettings(args struct{ Edit settingsEdit }) (*settingsChanged, error) {
	return m.change(func(contents string) (string, error) {
		edited, err := args.Edit.apply(contents)
		if err != nil {
			return "", err
		}
		return checkSettings(edited)
	})
}
