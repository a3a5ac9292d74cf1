package settings

import (
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/monitors"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/store/saved"
)

// firingLines are the matches that a row of the page shows of a firing.
const firingLines = 5

// monitorData is what the page of a saved search shows of its monitor.
type monitorData struct {
	// On says that there is one, Begun that it knows what was there at first.
	On, Begun bool
	Created   time.Time
	// By is the user for whom it searches, "" for who asks.
	By string
	// Failure is why it does not search. Left are repositories that could not be searched
	// whole, those that who asks may see, and More counts others; 0 for who is not its user.
	// Untold counts the firings that were dropped before they were told.
	Failure string
	Left    []leftRow
	More    int
	Untold  int
	// Mail says that the server sends mail; Address is where, "" if the user has none.
	Mail    bool
	Address string
	// Nobody says that it tells nowhere. Tell is where it tells, if that is for who asks to
	// say, or what was filled in.
	Nobody  bool
	Tell    manage.Tell
	Firings []firingRow
}

// leftRow is a repository that could not be searched whole.
type leftRow struct{ Name, Why string }

// firingRow is a line of the list of what was found.
type firingRow struct {
	At         time.Time
	Repository string
	Path       string
	Count      int
	Matches    []firingMatch
	More       int
	Deliveries []deliveryRow
}

// firingMatch is a match with where it is.
type firingMatch struct{ Path, Place, Text string }

// deliveryRow is what became of telling.
type deliveryRow struct{ Kind, State, Failure string }

func (v *visit) monitors() *manage.Monitors { return &manage.Monitors{Kept: v.kept, Actor: v.Actor} }

// kindWords are the kinds of delivery as people read them.
var kindWords = map[string]string{string(notify.Email): "E-mail", string(notify.Webhook): "Webhook", string(notify.Slack): "Slack"}

// fill reads the monitor of a saved search. filled says that Tell was filled in.
func (d *monitorData) fill(v *visit, search uint32, filled bool) error {
	d.Mail = v.kept.Mail
	if v.Actor.User != nil {
		d.Address = v.Actor.User.PrimaryEmail()
	}
	m, err := v.monitors().Find(search)
	if errors.Is(err, manage.ErrNoMonitor) {
		return nil
	}
	if err != nil {
		return err
	}
	d.On, d.Begun, d.Created, d.Failure, d.Untold = true, m.Begun, m.Created, m.Failure, m.Untold
	d.Nobody = len(m.Targets) == 0
	names, err := v.monitors().Names(m)
	if err != nil {
		return err
	}
	for _, l := range m.Left {
		if name := names[l.Repository]; name != "" {
			d.Left = append(d.Left, leftRow{name, l.Why})
		}
	}
	if v.Actor.Is(m.Creator) {
		d.More = m.LeftMore
		if !filled {
			d.Tell = tellOf(m)
		}
	} else {
		if d.By, err = v.kept.OwnerName(saved.Subject{Kind: saved.SubjectUser, ID: m.Creator}); err != nil {
			return err
		}
		if d.By == "" {
			d.By = "a user who is gone"
		}
	}
	all, err := v.monitors().Firings(search)
	if err != nil {
		return err
	}
	for _, f := range all {
		d.Firings = append(d.Firings, newFiringRow(v, f))
	}
	return nil
}

// tellOf is where a monitor tells, as far as it may be seen.
func tellOf(m *saved.Monitor) (t manage.Tell) {
	t.Email = m.Target(string(notify.Email)) != nil
	if w := m.Target(string(notify.Webhook)); w != nil {
		t.Webhook = w.Address
	}
	if s := m.Target(string(notify.Slack)); s != nil {
		t.Slack = s.Address
	}
	return t
}

func newFiringRow(v *visit, f *saved.Firing) firingRow {
	row := firingRow{At: f.At, Repository: f.Name, Path: v.area.Server.Path(monitors.MatchPath(f.Name, saved.Found{})), Count: f.Count}
	for _, m := range f.Matches[:min(len(f.Matches), firingLines)] {
		place := m.Path
		switch {
		case m.Line > 0:
			place = fmt.Sprintf("%s:%d", m.Path, m.Line)
		case m.Path == "" && m.Commit != "":
			place = m.Commit[:min(len(m.Commit), 10)]
		case m.Path == "":
			place = m.Text
		}
		row.Matches = append(row.Matches, firingMatch{v.area.Server.Path(monitors.MatchPath(f.Name, m)), place, m.Text})
	}
	row.More = f.Count - len(row.Matches)
	for _, d := range f.Deliveries {
		state := string(d.State)
		if d.State == saved.DeliveryWaits {
			state = "waiting"
		}
		row.Deliveries = append(row.Deliveries, deliveryRow{kindWords[d.Kind], state, d.Failure})
	}
	return row
}

// setMonitor has a saved search monitored.
func setMonitor(v *visit) (answer, error) {
	s, _, err := v.search()
	if err != nil {
		return answer{}, err
	}
	to := manage.Tell{Email: v.form.Values["email"] == "yes", Webhook: v.value("webhook"), Slack: v.value("slack")}
	d := &searchData{Monitor: monitorData{Tell: to}, filled: monitorForm}
	if _, err := v.monitors().Set(s.ID, to); err != nil {
		return answer{data: d}, err
	}
	return answer{did: "monitored"}, nil
}

// endMonitor ends the monitor of a saved search.
func endMonitor(v *visit) (answer, error) {
	s, _, err := v.search()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "unmonitored"}, v.monitors().Remove(s.ID)
}
