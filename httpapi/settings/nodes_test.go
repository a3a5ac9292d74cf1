package settings_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestNodes(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	root := w.as("root")
	if got := root.get("/site-admin/nodes"); got.status != http.StatusOK || !strings.Contains(got.text, "has a store of its own") {
		t.Errorf("a store of one machine: %d %s", got.status, got.text)
	}
	w.status.Cluster = &admin.StatusCluster{
		Node: "aaaaaaaaaa", Head: 9, Applied: 7, Confirmed: time.Now(), Objects: "s3://search/<b>",
		Nodes: []admin.StatusNode{
			{ID: "aaaaaaaaaa", Address: "http://10.0.0.5:7080", Live: true, Seen: time.Now(), Applied: 7, Parts: 64, Tasks: []string{"backup", "merge"}, Bytes: 9_200_000_000},
			{ID: "bbbbbbbbbb", Address: "http://10.0.0.6:7080", Host: "<i>two", Seen: time.Now(), Applied: 9},
		},
	}
	got := root.get("/site-admin/nodes")
	for _, want := range []string{"7, 2 behind", "s3://search/<b>", "aaaaaaaa</code>", "this one", "backup, merge", "9.2 GB", "silent", "<i>two"} {
		if !strings.Contains(got.text, want) {
			t.Errorf("the page of nodes lacks %q:\n%s", want, got.text)
		}
	}
	w.status.Cluster = &admin.StatusCluster{Error: "no <connection>"}
	if got := root.get("/site-admin/nodes"); !strings.Contains(got.text, "The database cannot be asked: no <connection>") {
		t.Errorf("a database that is away: %s", got.text)
	}
}
