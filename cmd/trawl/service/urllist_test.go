package service_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What a list at an address names is searched. What it names no more is hidden and kept, a
// list that is something else hides nothing, and stars that an admin gave stay.
func TestListOfAddresses(t *testing.T) {
	h := newHosted(t, time.Hour)
	h.put(1, "acme/kiln", false)
	h.put(2, "acme/glaze", false)
	var text atomic.Value
	both := h.host.URL + "/acme/kiln.git\n" + h.host.URL + "/acme/glaze.git\n"
	text.Store(both)
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text.Load().(string)) }))
	defer list.Close()
	h.addService("OTHER", `{"reposURL": "`+list.URL+`"}`)
	if v := h.sync(); v.LastError+v.Warning != "" {
		t.Fatalf("%+v", v)
	}
	h.indexed("acme/kiln", "acme/glaze")
	glaze := h.record("acme/glaze")
	if n := found(t, h.Service, "clay"); n != 2 || glaze.Origin == nil || glaze.Origin.ID != h.host.URL+"/acme/glaze.git" {
		t.Errorf("found %d, want 2; the record is %+v", n, glaze)
	}

	for _, other := range []string{"", "<html>sign in</html>", strings.SplitAfter(both, "\n")[0] + "<html>"} {
		text.Store(other)
		if v := h.sync(); v.LastError+v.Warning == "" || found(t, h.Service, "clay") != 2 {
			t.Errorf("a list %q: %+v", other, v)
		}
	}
	text.Store(strings.SplitAfter(both, "\n")[0])
	h.sync()
	if n, r := found(t, h.Service, "clay"), h.record("acme/glaze"); n != 1 || r == nil || !r.IsGone() {
		t.Errorf("found %d, want 1 and one that is kept: %+v", n, r)
	}
	text.Store(both)
	h.sync()
	if n, r := found(t, h.Service, "clay"), h.record("acme/glaze"); n != 2 || r == nil || r.ID != glaze.ID || r.IsGone() {
		t.Errorf("found %d, want 2 and the same one: %+v", n, r)
	}
}
