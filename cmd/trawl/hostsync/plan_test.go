package hostsync

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/saved"
)

// String lists what a plan does.
func (p *Plan) String() string {
	var out []string
	for _, l := range p.Add {
		out = append(out, "add "+l.Source.Name)
	}
	for _, c := range p.Change {
		out = append(out, strings.TrimSpace(fmt.Sprintf("change %d %s", c.Repository.ID, c.To.Name)))
	}
	for _, r := range p.Hide {
		out = append(out, fmt.Sprint("hide ", r.ID))
	}
	for _, r := range p.Remove {
		out = append(out, fmt.Sprint("remove ", r.ID))
	}
	for _, name := range p.Pushed {
		out = append(out, "pushed "+name)
	}
	return strings.Join(append(out, fmt.Sprint("kept ", p.Kept)), ", ")
}

func TestPlan(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	config, err := hosts.ParseConfig("GITHUB", `{"url": "https://hub.example.org", "orgs": ["lab"]}`)
	if err != nil {
		t.Fatal(err)
	}
	record := func(id uint32, name string, service uint32, gone time.Duration) *store.Repository {
		r := &store.Repository{ID: id, Name: "hub/" + name, Source: "https://hub.example.org/" + name, Mirror: true, Guarded: true, Generation: 1, LastFetched: now.Add(-time.Minute)}
		if service != 0 {
			r.Origin = &store.Origin{Service: service, Kind: "github", URL: "https://hub.example.org/", ID: fmt.Sprint(id)}
		}
		if gone != 0 {
			r.Gone = now.Add(-gone)
		}
		return r
	}
	listed := func(id int, name string) hosts.Listed {
		return hosts.Listed{Source: ingest.Source{Name: "hub/" + name, Location: "https://hub.example.org/" + name, Remote: true, Guarded: true}, Facts: &codehost.Repository{ID: fmt.Sprint(id), Path: name}}
	}
	starred, pushed := listed(1, "a"), listed(1, "a")
	starred.Facts = &codehost.Repository{ID: "1", Stars: 5}
	pushed.Facts = &codehost.Repository{ID: "1", Pushed: now}
	operators := record(1, "a", 0, 0)
	operators.Guarded = false
	named, login := record(1, "a", 3, 0), record(1, "a", 0, 0)
	named.Named = true
	login.Source = "https://me:pw@hub.example.org/a"
	plain := listed(1, "a")
	plain.Facts = nil
	for _, tt := range []struct {
		name   string
		have   []*store.Repository
		others []uint32 // that service 9 has
		list   []hosts.Listed
		failed []string
		want   string
	}{
		{"the same", []*store.Repository{record(1, "a", 3, 0)}, nil, []hosts.Listed{listed(1, "a")}, nil, "kept [1]"},
		{"a new one", nil, nil, []hosts.Listed{listed(1, "a")}, nil, "add hub/a, kept []"},
		{"a renamed one", []*store.Repository{record(1, "a", 3, 0)}, nil, []hosts.Listed{listed(1, "b")}, nil, "change 1 hub/b, kept [1]"},
		{"a starred one", []*store.Repository{record(1, "a", 3, 0)}, nil, []hosts.Listed{starred}, nil, "change 1, kept [1]"},
		{"one that was pushed to", []*store.Repository{record(1, "a", 3, 0)}, nil, []hosts.Listed{pushed}, nil, "pushed hub/a, kept [1]"},
		{"one that was added by its address", []*store.Repository{record(1, "a", 0, 0)}, nil, []hosts.Listed{listed(1, "a")}, nil, "change 1, kept [1]"},
		{"one of the operator", []*store.Repository{operators}, nil, []hosts.Listed{starred}, nil, "kept [1]"},
		{"one of another service", []*store.Repository{record(1, "a", 9, 0)}, []uint32{1}, []hosts.Listed{starred}, nil, "kept [1]"},
		{"one that another service has no more", []*store.Repository{record(1, "a", 9, 0)}, nil, []hosts.Listed{listed(1, "a")}, nil, "change 1, kept [1]"},
		{"a vanished one", []*store.Repository{record(1, "a", 3, 0)}, nil, nil, nil, "hide 1, kept [1]"},
		{"one in a part that failed", []*store.Repository{record(1, "a", 3, 0), record(2, "b", 3, 2*time.Hour)}, nil, nil, []string{"x"}, "kept [1 2]"},
		{"one that another service has as well", []*store.Repository{record(1, "a", 3, 0)}, []uint32{1}, nil, nil, "kept []"},
		{"one that is gone for a while", []*store.Repository{record(1, "a", 3, time.Minute)}, nil, nil, nil, "kept [1]"},
		{"one that is gone for long", []*store.Repository{record(1, "a", 3, 2*time.Hour)}, nil, nil, nil, "remove 1, kept []"},
		{"one that is back", []*store.Repository{record(1, "a", 3, 2*time.Hour)}, nil, []hosts.Listed{listed(1, "a")}, nil, "change 1, kept [1]"},
		{"one that an admin added", []*store.Repository{named}, nil, nil, nil, "kept []"},
		{"one with a login in its record", []*store.Repository{login}, nil, []hosts.Listed{plain}, nil, "change 1, kept [1]"},
		{"another of the same name", []*store.Repository{record(1, "a", 3, 0)}, nil, []hosts.Listed{listed(2, "a")}, nil, "add hub/a, remove 1, kept []"},
	} {
		v := &saved.Service{ID: 3}
		for _, r := range tt.have {
			v.Repositories = append(v.Repositories, r.ID)
		}
		if r := tt.have; len(r) == 1 && (r[0].Origin == nil || r[0].Origin.Service == 9) {
			v.Repositories = nil
		}
		s := newSituation(v, config, tt.have, []*saved.Service{v, {ID: 9, Repositories: tt.others}}, now, time.Hour)
		if got := s.plan(&hosts.Listing{Repositories: tt.list, Failed: tt.failed}).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
