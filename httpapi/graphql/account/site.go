package account

import (
	"context"
	"time"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

const siteKey = "site"

// Site is this server.
func (*Root) Site(ctx context.Context) *site { return &site{s: Of(ctx)} }

// site is the type Site.
type site struct {
	s *Session
	// What this server never does.
	HasCodeIntelligence, CanReloadSite                             bool
	FreeUsersExceeded, SendsEmailVerificationEmails, IsCodyEnabled bool
	CodyLLMConfiguration                                           *struct{ ChatModel string }
	UpdateCheck                                                    updateCheck
}

func (s *site) ID() graphql.ID         { return wire.NewID(wire.KindSite, siteKey) }
func (s *site) ProductVersion() string { return httpapi.APIVersion }
func (s *site) BuildVersion() string   { return httpapi.APIVersion }
func (s *site) NeedsRepositoryConfiguration() bool {
	return len(s.s.VisibleRepositories()) == 0
}

// updateCheck is the type UpdateCheck: nobody ever looks.
type updateCheck struct {
	Pending                              bool
	CheckedAt                            *wire.DateTime
	ErrorMessage, UpdateVersionAvailable *string
}

// SiteID is made when it is first asked for.
func (s *site) SiteID() (string, error) { return s.s.Book.SiteID() }

// ViewerCanAdminister is for site admins.
func (s *site) ViewerCanAdminister() bool { return s.s.Actor.SiteAdmin() }

// SettingsURL is null for others.
func (s *site) SettingsURL() *string {
	if !s.s.Actor.SiteAdmin() {
		return nil
	}
	return wire.TextOrNull("/site-admin/global-settings")
}

// ProductSubscription is free.
func (s *site) ProductSubscription() subscription {
	return subscription{ProductNameWithBrand: "trawl", ActualUserCountDate: s.s.Now().UTC().Format(time.DateOnly)}
}

// subscription is the type ProductSubscriptionStatus.
type subscription struct {
	ProductNameWithBrand      string
	ActualUserCount           int32
	ActualUserCountDate       string
	NoLicenseWarningUserCount *int32
}

// authProviders is the type AuthProviderConnection.
type authProviders struct {
	Nodes      []authProvider
	TotalCount int32
	PageInfo   wire.ForwardPage
}

// authProvider is the type AuthProvider.
type authProvider struct {
	ServiceType, ServiceID, ClientID, DisplayName string
	IsBuiltin                                     bool
	AuthenticationURL                             *string
	ConfigID                                      string
}

// AuthProviders is a password of this server.
func (s *site) AuthProviders() authProviders {
	return authProviders{Nodes: []authProvider{{ServiceType: "builtin", DisplayName: "Password", IsBuiltin: true}}, TotalCount: 1}
}

// alert is the type Alert.
type alert struct {
	Type, Message        string
	IsDismissibleWithKey *string
}

// Alerts tells of sources that cannot be read.
func (s *site) Alerts() []alert {
	out := []alert{}
	for _, m := range s.s.statusMessages() {
		switch m := m.result.(type) {
		case *noRepositories:
			out = append(out, alert{Type: "INFO", Message: m.Message})
		case *syncError:
			out = append(out, alert{Type: "WARNING", Message: m.Message})
		}
	}
	return out
}

// siteConfiguration is the type SiteConfiguration.
type siteConfiguration struct {
	ID                 int32
	EffectiveContents  wire.Text
	ValidationMessages []string
}

// Configuration is for site admins.
func (s *site) Configuration() (*siteConfiguration, error) {
	if err := s.s.MustAdmin(); err != nil {
		return nil, err
	}
	c, err := s.s.Manage().SiteConfiguration()
	if err != nil {
		return nil, err
	}
	return &siteConfiguration{ID: int32(c.ID), EffectiveContents: wire.Text(c.Contents), ValidationMessages: append([]string{}, c.Problems...)}, nil
}

// AllowSiteSettingsEdits is so for a part of the configuration.
func (*site) AllowSiteSettingsEdits() bool { return true }

// UpdateSiteConfiguration returns whether the server has to be started again: never.
func (*Root) UpdateSiteConfiguration(ctx context.Context, args struct {
	LastID wire.Int
	Input  string
}) (bool, error) {
	return false, Told(Of(ctx).Manage().ChangeSite(uint32(max(args.LastID.Or(0), 0)), args.Input))
}
