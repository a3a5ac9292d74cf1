package manage

import (
	"net/url"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store/saved"
)

// Monitors are the monitors of an actor: those of the saved searches that they see.
type Monitors struct {
	*Kept
	Actor *auth.Actor
}

// Tell is where a monitor is to tell of new matches. The empty address is nowhere.
type Tell struct {
	// Email tells the user who asks for it at their primary address.
	Email          bool
	Webhook, Slack string
}

// ErrNoMonitor says that a saved search has no monitor.
const ErrNoMonitor = notFound("the search is not monitored")

// ParseMonitor reads the query of a monitor. An error is for people.
func ParseMonitor(text string) (*query.Query, error) {
	return parseWhole(text, "a monitor looks at everything")
}

func (m *Monitors) search(id uint32) (*saved.Search, error) {
	return (&Searches{m.Kept, m.Actor}).Find(id)
}

// Find returns the monitor of a saved search that the actor sees.
func (m *Monitors) Find(search uint32) (*saved.Monitor, error) {
	if _, err := m.search(search); err != nil {
		return nil, err
	}
	v, err := m.Book.Monitors.Get(search)
	if isNotFound(err) {
		return nil, ErrNoMonitor
	}
	return v, err
}

// Set has a saved search monitored for the actor, or says where its monitor tells from now
// on. An address that is as it is shown stays what it is, if it is the actor's.
func (m *Monitors) Set(search uint32, to Tell) (*saved.Monitor, error) {
	s, err := m.search(search)
	if err != nil {
		return nil, err
	}
	if m.Actor.User == nil {
		return nil, refuse("only a user can monitor a search")
	}
	if _, err := ParseMonitor(s.Query); err != nil {
		return nil, refuse("%s", err.Error())
	}
	old, err := m.Book.Monitors.Get(search)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	var targets []saved.Target
	if to.Email {
		switch {
		case !m.Mail && (old == nil || old.Target(string(notify.Email)) == nil):
			return nil, refuse("this server sends no mail: a site admin has to set smtp")
		case m.Actor.User.PrimaryEmail() == "":
			return nil, refuse("you have no e-mail address: add one to your account")
		}
		targets = append(targets, saved.Target{Kind: string(notify.Email)})
	}
	for _, t := range []struct {
		kind    notify.Kind
		address string
	}{{notify.Webhook, to.Webhook}, {notify.Slack, to.Slack}} {
		if t.address == "" {
			continue
		}
		if old != nil && old.Creator == m.Actor.UserID() {
			if kept := old.Target(string(t.kind)); kept != nil && kept.Address == t.address {
				targets = append(targets, *kept)
				continue
			}
		}
		if strings.HasSuffix(t.address, hidden) {
			return nil, refuse("the address is not whole: write it again")
		}
		if err := notify.Check(t.kind, t.address); err != nil {
			return nil, refuse("%s", err.Error())
		}
		target, err := m.Book.Monitors.NewTarget(string(t.kind), t.address, shownAddress(t.address))
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	return m.Book.Monitors.Set(search, m.Actor.UserID(), targets)
}

// hidden stands for what of an address is not shown.
const hidden = "/…"

// shownAddress is what of the address of a webhook is no secret: where it is.
func shownAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return hidden
	}
	return u.Scheme + "://" + u.Host + hidden
}

// Remove ends the monitor of a saved search.
func (m *Monitors) Remove(search uint32) error {
	if _, err := m.Find(search); err != nil {
		return err
	}
	return m.Book.Monitors.Remove(search)
}

// Firings returns those of a saved search, the last first, in repositories that the actor
// sees.
func (m *Monitors) Firings(search uint32) ([]*saved.Firing, error) {
	if _, err := m.Find(search); err != nil {
		return nil, err
	}
	all, err := m.Book.Firings.All(search)
	if err != nil {
		return nil, err
	}
	if len(all) > shownFirings {
		all = all[:shownFirings]
	}
	sn := m.Store.Snapshot()
	all = slices.DeleteFunc(all, func(f *saved.Firing) bool {
		repo := sn.RepositoryByID(f.Repository)
		if repo == nil || !m.Actor.CanSee(repo) {
			return true
		}
		f.Name = repo.Name
		return false
	})
	return all, sn.Close()
}

// shownFirings are listed of a monitor.
const shownFirings = 100

// Names returns the names of the repositories that a monitor could not search whole, as
// far as the actor sees them.
func (m *Monitors) Names(of *saved.Monitor) (map[uint32]string, error) {
	out := map[uint32]string{}
	sn := m.Store.Snapshot()
	for _, l := range of.Left {
		if repo := sn.RepositoryByID(l.Repository); repo != nil && m.Actor.CanSee(repo) {
			out[repo.ID] = repo.Name
		}
	}
	return out, sn.Close()
}
