package settings

import (
	"encoding/json"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
)

// configurationData is what the page of the configuration shows.
type configurationData struct {
	frame
	manage.SiteConfiguration
	// Filled has what was filled in and not taken, by the name of the setting.
	Filled map[string]string
}

// Shown is the value in the field of a setting.
func (d *configurationData) Shown(s manage.SiteSetting) string {
	if filled, ok := d.Filled[s.Name]; ok {
		return filled
	}
	return s.Value
}

func (d *configurationData) fill(v *visit) (err error) {
	id := d.ID
	d.SiteConfiguration, err = v.Operations.SiteConfiguration()
	if d.Filled != nil {
		d.ID = id // what was filled in stays made of what it was made of
	}
	return err
}

// configure replaces what site admins have set. A field that is empty, or missing as
// another place sets it, is as if nobody had.
func configure(v *visit) (answer, error) {
	id, err := strconv.ParseUint(v.value("last"), 10, 32)
	if err != nil {
		return answer{data: &configurationData{}}, &identity.RuleError{Text: "the form does not say what it is a change of: open it again"}
	}
	d := &configurationData{Filled: map[string]string{}}
	d.ID = uint32(id)
	now, err := v.Operations.SiteConfiguration()
	if err != nil {
		return answer{data: d}, err
	}
	values, limits := map[string]any{}, map[string]string{}
	for _, s := range now.Settings {
		filled, there := v.form.Values[s.Name]
		if !there {
			continue
		}
		d.Filled[s.Name] = filled
		switch text := v.value(s.Name); {
		case text == "":
		case s.Limit:
			limits[s.Name] = text
		default:
			values[s.Name] = text
		}
	}
	if len(limits) > 0 {
		values["rateLimits"] = limits
	}
	contents, err := json.Marshal(values)
	if err != nil {
		return answer{data: d}, err
	}
	if err := v.ChangeSite(d.ID, string(contents)); err != nil {
		return answer{data: d}, err
	}
	return answer{did: "saved"}, nil
}
