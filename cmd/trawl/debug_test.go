package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

// debugged opens the debug server of a host that has opened nothing else.
func debugged(t *testing.T, public bool) *debugServer {
	t.Helper()
	h := &host{set: config.Defaults(config.Machine{MemoryBytes: 1 << 30})}
	h.server = h.newServer()
	h.log = zerolog.Nop()
	h.set.DebugListen, h.set.DebugPublic = "127.0.0.1:0", public
	d, err := h.openDebugServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestDebugServer(t *testing.T) {
	d := debugged(t, false)
	for path, want := range map[string]string{
		"/metrics":                       "trawl_ready 0",
		"/debug/pprof/":                  "goroutine",
		"/debug/pprof/cmdline":           "trawl",
		"/debug/pprof/goroutine?debug=1": "goroutine profile:",
	} {
		resp, err := http.Get(d.url() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: got %s %.200q, want 200 and %q", path, resp.Status, body, want)
		}
	}
}

// A page in a browser on this machine reads nothing, whatever its name leads to.
func TestDebugServerRefusesPages(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") })
	guarded := noPages(page)
	for _, c := range []struct {
		host, header, value string
		want                int
	}{
		{"127.0.0.1:7081", "", "", 200},
		{"localhost:7081", "", "", 200},
		{"[::1]:7081", "", "", 200},
		{"localhost", "", "", 200},
		{"localhost:7081", "Sec-Fetch-Site", "none", 200},        // typed by a person
		{"localhost:7081", "Sec-Fetch-Site", "same-origin", 200}, // a link of pprof's page
		// a name that leads to this machine
		{"evil.example", "", "", 403},
		{"evil.example:7081", "", "", 403},
		{"127.0.0.1.evil.example:7081", "", "", 403},
		// a page of somewhere else
		{"127.0.0.1:7081", "Origin", "https://evil.example", 403},
		{"127.0.0.1:7081", "Sec-Fetch-Site", "cross-site", 403},
		{"127.0.0.1:7081", "Sec-Fetch-Site", "same-site", 403},
		// something in front
		{"127.0.0.1:7081", "X-Forwarded-For", "192.0.2.1", 403},
	} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Host = c.host
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		if w.Code != c.want || strings.Contains(w.Body.String(), "secret") != (c.want == 200) {
			t.Errorf("Host %s, %s: %s: got %d %q, want %d", c.host, c.header, c.value, w.Code, w.Body, c.want)
		}
	}
}

func TestDebugPortTaken(t *testing.T) {
	d := debugged(t, false)
	h := &host{set: config.Defaults(config.Machine{MemoryBytes: 1 << 30})}
	h.server = h.newServer()
	h.set.DebugListen = strings.TrimPrefix(d.url(), "http://")
	if d, err := h.openDebugServer(); err == nil || !strings.HasPrefix(err.Error(), "debug-listen: ") {
		_ = d.close()
		t.Errorf("a taken port: got %v, want an error that names the setting", err)
	}
}
