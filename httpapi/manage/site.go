package manage

import (
	"errors"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// Site is the configuration of the server, of which site admins change a part while it
// runs.
type Site interface {
	Configuration() SiteConfiguration
	// Change replaces what site admins have set by the JSON contents, and has it take
	// effect, on all nodes. What contents does not name is as the configuration file,
	// the environment, flags and the defaults say. It returns what changed, such as
	// "max-timeout: 1m -> 30s". last is the ID of the configuration that contents is
	// made of; the error is saved.ErrConflict if there is another by now.
	Change(author, last uint32, contents string) (changes []string, err error)
}

// SiteConfiguration is the configuration in force.
type SiteConfiguration struct {
	// ID is that of the version that site admins wrote last, 0 if they wrote none.
	ID uint32
	// Contents is the part that they can change, as JSON.
	Contents string
	Settings []SiteSetting
	// Problems say what the configuration file asks for in vain, or until the next
	// start.
	Problems []string
}

// SiteSetting is a setting and its value.
type SiteSetting struct {
	Name, About, Value, Default string
	// Where names the place that sets it, "" for the default and for site admins.
	Where string
	// Live says that it takes effect while the server runs, BySite that site admins have set it.
	Live, BySite bool
	// Limit says that it is a limit of GraphQL documents.
	Limit bool
}

// Editable reports whether site admins can change the setting.
func (s SiteSetting) Editable() bool { return s.Live && s.Where == "" }

// SiteConfiguration returns the configuration in force, for site admins.
func (o *Operations) SiteConfiguration() (SiteConfiguration, error) {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return SiteConfiguration{}, err
	}
	return o.Site.Configuration(), nil
}

// ChangeSite replaces the configuration that site admins write, and writes what changed
// to the audit log.
func (o *Operations) ChangeSite(last uint32, contents string) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	if len(contents) > saved.MaxSettingsBytes {
		return refuse("the configuration is longer than %d bytes", saved.MaxSettingsBytes)
	}
	changes, err := o.Site.Change(o.Actor.UserID(), last, contents)
	if errors.Is(err, saved.ErrConflict) {
		return refuse("the configuration was changed by another user meanwhile: read it again")
	}
	if err != nil || len(changes) == 0 {
		return err
	}
	return o.Registry.Log(o.by(), "site.configure", "site", strings.Join(changes, ", "))
}

// RefuseSite words why a configuration is not taken.
func RefuseSite(err error) error { return &identity.RuleError{Text: err.Error()} }
