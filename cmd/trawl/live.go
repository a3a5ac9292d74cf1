package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// siteSubject is what the records belong to that site admins configure.
var siteSubject = saved.Subject{Kind: saved.SubjectConfiguration}

// liveSettings are the settings of a running server: the live ones change with the
// configuration file and with what site admins set. It is safe for concurrent use.
type liveSettings struct {
	log zerolog.Logger
	// put has settings take effect.
	put func(*config.Settings)

	// now is a copy of set, for those who only read.
	now atomic.Pointer[config.Settings]

	mu sync.Mutex // guards all below, and calls of put
	// set is in force, but for live settings as the server was started with.
	set config.Settings
	// book has what site admins set, nil until the data directory is open; id is the
	// number of the version in force, 0 for none.
	book *saved.Book
	id   uint32
	// waiting are settings of the file that wait for the next start, problem is why the
	// file in its present state is not in force.
	waiting []string
	problem string
}

func newLiveSettings(set config.Settings, log zerolog.Logger) *liveSettings {
	l := &liveSettings{log: log, set: set}
	l.now.Store(&set)
	return l
}

// Load returns the settings in force, which are not changed.
func (l *liveSettings) Load() *config.Settings { return l.now.Load() }

// open puts what site admins have set into force, and follows it.
func (l *liveSettings) open(st *store.Store, book *saved.Book) error {
	l.mu.Lock()
	l.book = book
	l.mu.Unlock()
	st.Subscribe(func(a store.Applied) {
		if !a.Has(store.RecordSettings) {
			return
		}
		if err := l.readSite(); err != nil {
			l.log.Error().Err(err).Msg("read configuration of the site, what it said stays")
		}
	})
	return l.readSite()
}

// readSite puts the latest version of what site admins set into force.
func (l *liveSettings) readSite() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	latest, err := l.book.Settings.Latest(siteSubject)
	if err != nil || latest == nil || latest.ID == l.id {
		return err
	}
	site, problems := config.SiteOf(latest.Contents)
	for _, err := range problems {
		l.log.Warn().Err(err).Msg("left out of the configuration of the site")
	}
	said := l.set.Said
	said.Site = site
	if _, err := l.follow(said); err != nil {
		return err
	}
	l.id = latest.ID
	return nil
}

// setFile puts the configuration file, as it was read again, into force.
func (l *liveSettings) setFile(f *config.File) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := l.set.Said
	said.File = f
	waiting, err := l.follow(said)
	if err != nil {
		return err
	}
	l.waiting, l.problem = waiting, ""
	if len(waiting) > 0 {
		l.log.Warn().Strs("settings", waiting).Msg("changed settings take effect when the server starts again")
	}
	return nil
}

// setProblem notes why the file is not in force.
func (l *liveSettings) setProblem(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problem = err.Error()
}

// follow puts what was said into force. The caller holds mu.
func (l *liveSettings) follow(said config.Said) (waiting []string, err error) {
	next, err := config.Resolve(config.ThisMachine(), said)
	if err != nil {
		return nil, err
	}
	changes, waiting := l.set.Follow(&next)
	for _, change := range changes {
		l.log.Info().Str("setting", change).Msg("setting changed")
	}
	now := l.set
	l.now.Store(&now)
	l.put(&now)
	return waiting, nil
}

var errSiteOpening = errors.New("opening data directory")

// Change implements manage.Site.
func (l *liveSettings) Change(author, last uint32, contents string) (changes []string, err error) {
	l.mu.Lock()
	before, book := l.set, l.book
	l.mu.Unlock()
	if book == nil {
		return nil, errSiteOpening
	}
	site, err := config.ParseSite(contents, &before)
	if err != nil {
		return nil, manage.RefuseSite(err)
	}
	stored, err := site.JSON()
	if err != nil {
		return nil, err
	}
	if _, err := book.Settings.Change(siteSubject, author, last, func(string) (string, error) { return stored, nil }); err != nil {
		return nil, err
	}
	// It is in force: subscribers heard of it before the commit returned.
	now := *l.Load()
	changes, _ = before.Follow(&now)
	return changes, nil
}

// Configuration implements manage.Site.
func (l *liveSettings) Configuration() manage.SiteConfiguration {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := manage.SiteConfiguration{ID: l.id}
	editable := map[string]any{}
	for _, k := range config.All() {
		o := l.set.Origins[k.Name]
		s := manage.SiteSetting{
			Name: k.Name, About: k.About, Value: redact.Text(o.Text), Default: k.Default, Where: o.Where, Live: k.Live(), BySite: o.Place == config.PlaceSite,
		}
		out.Settings = append(out.Settings, s)
		if s.Live {
			editable[s.Name] = s.Value
		}
	}
	if l.set.ExternalURL != "" {
		editable["externalURL"] = l.set.ExternalURL
	}
	limits, usual := l.set.RateLimits.WithDefaults(), (&config.Settings{}).RateLimits.WithDefaults()
	inForce := map[string]int{}
	for i, k := range limits.Keyed() {
		s := manage.SiteSetting{
			Name: k.Key, About: "limit of one GraphQL document", Value: strconv.Itoa(*k.Limit), Default: strconv.Itoa(k.Standard), Live: true, Limit: true,
		}
		if f := l.set.Said.File; f != nil && *f.RateLimits.Keyed()[i].Limit != 0 {
			s.Where = f.Path
		}
		s.BySite = s.Where == "" && *limits.Keyed()[i].Limit != *usual.Keyed()[i].Limit
		out.Settings = append(out.Settings, s)
		inForce[k.Key] = *k.Limit
	}
	editable["rateLimits"] = inForce
	text, err := json.MarshalIndent(editable, "", "  ")
	if err != nil {
		panic("trawl: settings that are no JSON: " + err.Error())
	}
	out.Contents = string(text)
	if l.problem != "" {
		out.Problems = append(out.Problems, "the configuration file is not in force as it is now: "+l.problem)
	}
	if len(l.waiting) > 0 {
		out.Problems = append(out.Problems, fmt.Sprintf("%s of the configuration file waits for the next start", strings.Join(slices.Sorted(slices.Values(l.waiting)), ", ")))
	}
	return out
}

var _ manage.Site = (*liveSettings)(nil)
