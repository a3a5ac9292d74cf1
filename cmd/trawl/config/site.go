package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/jsonc"
)

// Site is what site admins have set while the server runs: values of live settings by
// name, and limits of GraphQL requests, 0 where they have set none.
type Site struct {
	Values     map[string]string
	RateLimits cost.Limits
}

// externalURLKey is how clients of the API write external-url.
const externalURLKey = "externalURL"

// siteDocument is the JSON of a configuration of the site.
type siteDocument struct {
	values map[string]string // by the name of the setting
	limits cost.Limits
}

// parseSite reads a JSON object, which may have comments. Lists are taken as the texts
// of settings are, with commas.
func parseSite(text string) (d siteDocument, err error) {
	fields := map[string]json.RawMessage{}
	if err := jsonc.Unmarshal(text, &fields); err != nil {
		return d, err
	}
	d.values = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name := key
		if key == externalURLKey {
			name = "external-url"
		}
		if name == rateLimitsKey {
			if d.limits, err = siteLimits(fields[key]); err != nil {
				return d, err
			}
			continue
		}
		if _, ok := Find(name); !ok {
			return d, unknownSetting(key)
		}
		if d.values[name], err = siteValue(fields[key]); err != nil {
			return d, fmt.Errorf("%s: %w", key, err)
		}
	}
	return d, nil
}

func unknownSetting(key string) error {
	known := append(slices.Clone(liveNames), rateLimitsKey)
	if near := nearest(key, known); near != "" {
		return fmt.Errorf("unknown key %q: did you mean %q?", key, near)
	}
	return fmt.Errorf("unknown key %q: known are %s", key, strings.Join(known, ", "))
}

// siteValue returns a JSON value as the text of a setting.
func siteValue(raw json.RawMessage) (string, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", err
	}
	if list, ok := v.([]any); ok {
		var texts []string
		for _, entry := range list {
			text, ok := scalarText(entry)
			if !ok {
				return "", errors.New("expected a list of values")
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, ","), nil
	}
	text, ok := scalarText(v)
	if !ok {
		return "", errors.New("expected one value; give one or remove the key")
	}
	return text, nil
}

func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10), true
		}
	}
	return "", false
}

// siteLimits reads the limits of GraphQL requests.
func siteLimits(raw json.RawMessage) (l cost.Limits, err error) {
	var limits map[string]json.RawMessage
	if err := json.Unmarshal(raw, &limits); err != nil {
		return l, fmt.Errorf("%s: expected keys with values, such as %q: 500", rateLimitsKey, rateLimitNames()[0])
	}
	for _, key := range slices.Sorted(maps.Keys(limits)) {
		limit := rateLimit(&l, key)
		if limit == nil {
			return l, fmt.Errorf("%s: unknown key %q: known are %s", rateLimitsKey, key, strings.Join(rateLimitNames(), ", "))
		}
		if *limit != 0 {
			return l, fmt.Errorf("%s: %s stands here twice", rateLimitsKey, key)
		}
		text, err := siteValue(limits[key])
		if err != nil {
			return l, fmt.Errorf("%s: %w", key, err)
		}
		if *limit, err = parseLimit(text); err != nil {
			return l, fmt.Errorf("%s: %w", key, err)
		}
	}
	return l, nil
}

// ParseSite reads a configuration that site admins write, which names any settings, and
// returns what of it says something else than the other places: the rest may change
// there. What another place holds, or does not take effect while a server runs, is
// refused, unless the value is the one in force. inForce are the settings of the server.
func ParseSite(text string, inForce *Settings) (Site, error) {
	d, err := parseSite(text)
	if err != nil {
		return Site{}, err
	}
	out := Site{Values: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(d.values)) {
		k, _ := Find(name)
		keep, err := inForce.override(k, d.values[name])
		if err != nil {
			return Site{}, err
		}
		if keep {
			out.Values[name] = d.values[name]
		}
	}
	elsewhere := cost.Limits{}
	if f := inForce.Said.File; f != nil {
		elsewhere = f.RateLimits
	}
	held := elsewhere.Keyed()
	usual := elsewhere.WithDefaults()
	now := usual.Keyed()
	kept := out.RateLimits.Keyed()
	for i, k := range d.limits.Keyed() {
		switch {
		case *k.Limit == 0 || *k.Limit == *now[i].Limit:
		case *held[i].Limit != 0:
			return Site{}, fmt.Errorf("%s is %d in %s: change it there", k.Key, *held[i].Limit, inForce.Said.File.Path)
		default:
			*kept[i].Limit = *k.Limit
		}
	}
	return out, nil
}

// override reports whether the site has to say that k is text, since without it k
// would be something else.
func (s *Settings) override(k Setting, text string) (bool, error) {
	without := Origin{Text: k.Default}
	for _, o := range s.Said.origins(k) {
		if o.Place != PlaceSite {
			without = o
		}
	}
	if text == without.Text {
		return false, nil
	}
	if err := k.set(&Settings{}, text); err != nil && k.Live() {
		return false, fmt.Errorf("%s: %w", k.Name, err)
	}
	switch {
	case k.Live() && without.Place == PlaceDefault:
		return !same(k, text, without.Text), nil
	case same(k, text, without.Text):
		return false, nil
	case without.Place != PlaceDefault:
		return false, fmt.Errorf("%s is set at %s: change it there", k.Name, without.Where)
	}
	return false, fmt.Errorf("%s takes effect when the server starts: set it in the configuration file, as %s, or as --%s", k.Name, k.Env(), k.Name)
}

// same reports whether two texts of a setting mean the same.
func same(k Setting, a, b string) bool {
	var as, bs Settings
	if k.set(&as, a) != nil || k.set(&bs, b) != nil {
		return a == b
	}
	return reflect.DeepEqual(as, bs)
}

// SiteOf reads what Site.JSON wrote. Values that this version does not take are left
// out, and told.
func SiteOf(text string) (out Site, problems []error) {
	out.Values = map[string]string{}
	if text == "" {
		return out, nil
	}
	var stored struct {
		Values     map[string]string `json:"values"`
		RateLimits map[string]int    `json:"rateLimits"`
	}
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return out, []error{err}
	}
	for _, name := range slices.Sorted(maps.Keys(stored.Values)) {
		k, ok := Find(name)
		switch {
		case !ok || !k.Live():
			problems = append(problems, fmt.Errorf("%s is not set while a server runs", name))
		default:
			if err := k.set(&Settings{}, stored.Values[name]); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", name, err))
				continue
			}
			out.Values[name] = stored.Values[name]
		}
	}
	for _, k := range out.RateLimits.Keyed() {
		*k.Limit = max(stored.RateLimits[k.Key], 0)
	}
	return out, problems
}

// JSON is how the configuration of the site is stored.
func (s Site) JSON() (string, error) {
	limits := map[string]int{}
	for _, k := range s.RateLimits.Keyed() {
		if *k.Limit != 0 {
			limits[k.Key] = *k.Limit
		}
	}
	text, err := json.Marshal(map[string]any{"values": s.Values, "rateLimits": limits})
	return string(text), err
}

// Follow puts what next says of live settings into force, and returns the changes, such
// as "max-timeout: 1m -> 30s", and the settings that wait for the next start.
func (s *Settings) Follow(next *Settings) (changes, waiting []string) {
	origins := maps.Clone(s.Origins)
	for _, k := range All() {
		before, after := s.Origins[k.Name], next.Origins[k.Name]
		if same(k, before.Text, after.Text) {
			if k.Live() {
				origins[k.Name] = after
			}
			continue
		}
		if !k.Live() {
			waiting = append(waiting, k.Name)
			continue
		}
		if err := k.set(s, after.Text); err != nil {
			panic("trawl: unchecked value of " + k.Name + ": " + err.Error())
		}
		origins[k.Name] = after
		changes = append(changes, fmt.Sprintf("%s: %s -> %s", k.Name, before.Text, after.Text))
	}
	changes = append(changes, s.RateLimits.WithDefaults().Changes(next.RateLimits.WithDefaults())...)
	s.RateLimits, s.Origins, s.Said = next.RateLimits, origins, next.Said
	if !reflect.DeepEqual(s.Backup, next.Backup) {
		waiting = append(waiting, backupKey)
	}
	if !reflect.DeepEqual(s.Providers, next.Providers) {
		waiting = append(waiting, oidcKey)
	}
	return changes, waiting
}
