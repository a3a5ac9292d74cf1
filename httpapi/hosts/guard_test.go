package hosts_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/hosts"
)

func TestGuard(t *testing.T) {
	refused := []string{
		// this machine
		"127.0.0.1", "127.255.0.9", "::1", "0.0.0.0", "0.1.2.3", "::", "::ffff:127.0.0.1", "::127.0.0.1",
		// its link, and many at once
		"169.254.1.1", "fe80::1", "fe80::1%eth0", "224.0.0.1", "ff02::1", "255.255.255.255",
		// metadata services
		"169.254.169.254", "::ffff:169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254",
		// an address of IPv4 in one of IPv6
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1",
	}
	for _, text := range refused {
		if err := (hosts.Guard{}).Check(netip.MustParseAddr(text)); !errors.Is(err, hosts.ErrAddress) {
			t.Errorf("Check(%s) = %v, want ErrAddress", text, err)
		}
		if err := (hosts.Guard{AllowLocal: true}).Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("allowed: Check(%s) = %v", text, err)
		}
	}
	for _, text := range []string{"10.1.2.3", "192.168.0.1", "172.16.5.5", "100.64.0.1", "8.8.8.8", "2001:db8::1", "fd12:3456::1", "64:ff9b::808:808", "2002:808:808::1"} {
		if err := (hosts.Guard{}).Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("Check(%s) = %v, want nil", text, err)
		}
	}
}

// The name of an address is looked up first and judged afterwards.
func TestDialJudgesWhatNamesMean(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "127.1", "0x7f000001", "2130706433"} {
		conn, err := (hosts.Guard{}).Dial(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			conn.Close()
			t.Errorf("Dial(%s) connected", host)
		}
	}
	if _, err := (hosts.Guard{}).Dial(t.Context(), "tcp", net.JoinHostPort("localhost", port)); !errors.Is(err, hosts.ErrAddress) {
		t.Errorf("Dial(localhost) = %v, want ErrAddress", err)
	}
}

// outside returns an address of this machine that the guard lets pass, or skips
// the test.
func outside(t testing.TB) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range addresses {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().Is4() && (hosts.Guard{}).Check(p.Addr()) == nil {
			return p.Addr().String()
		}
	}
	t.Skip("this machine has no address but that of loopback")
	return ""
}

// serveOn serves on an address of this machine.
func serveOn(t testing.TB, ip string, h http.Handler) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Skip(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// A service that may be asked cannot send us where we may not go.
func TestRedirectsAreJudged(t *testing.T) {
	asked := false
	secret := serveOn(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		fmt.Fprint(w, `{"Items":[{"Name":"secret","ClonePath":"/x"}]}`)
	}))
	to := secret.URL + "/v1/list-repos"
	front := serveOn(t, outside(t), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusFound)
	}))
	config := func(base string) *hosts.Config {
		t.Helper()
		c, err := hosts.ParseConfig("OTHER", `{"url": "`+base+`", "repos": ["src-serve"]}`)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if _, _, err := sourcesOf(t, config(front.URL), hosts.Guard{}); !errors.Is(err, hosts.ErrAddress) || asked {
		t.Errorf("redirect to loopback: got %v, asked %t; want ErrAddress", err, asked)
	}
	if _, _, err := sourcesOf(t, config(secret.URL), hosts.Guard{}); !errors.Is(err, hosts.ErrAddress) || asked {
		t.Errorf("loopback: got %v, asked %t; want ErrAddress", err, asked)
	}
	for _, to = range []string{"file:///etc/passwd", "ftp://example.org/", "gopher://example.org/"} {
		if _, _, err := sourcesOf(t, config(front.URL), hosts.Guard{AllowLocal: true}); err == nil {
			t.Errorf("redirect to %s: got nil, want an error", to)
		}
	}
	to = secret.URL + "/v1/list-repos"
	if found, _, err := sourcesOf(t, config(front.URL), hosts.Guard{AllowLocal: true}); err != nil || len(found) != 1 || !asked {
		t.Errorf("allowed: got %v, %v", found, err)
	}
}

func TestProxy(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the secret went on")
		}
		fmt.Fprint(w, "hello")
	}))
	defer there.Close()
	for _, tt := range []struct {
		allow     bool
		plain     int
		connected string
	}{
		{true, 200, "HTTP/1.1 200"},
		{false, 502, "HTTP/1.1 403"},
	} {
		p, err := hosts.OpenProxy(hosts.Guard{AllowLocal: tt.allow})
		if err != nil {
			t.Fatal(err)
		}
		address, err := url.Parse(p.URL())
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{Proxy: http.ProxyURL(address), DisableKeepAlives: true}
		resp, err := (&http.Client{Transport: transport}).Get(there.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.plain || tt.allow != (string(body) == "hello") {
			t.Errorf("allow %t: got %d %q, want %d", tt.allow, resp.StatusCode, body, tt.plain)
		}
		if line := connect(t, address, there.Listener.Addr().String(), true); !strings.HasPrefix(line, tt.connected) {
			t.Errorf("allow %t: CONNECT got %q, want %s", tt.allow, line, tt.connected)
		}
		// No other process can use it.
		if line := connect(t, address, there.Listener.Addr().String(), false); !strings.HasPrefix(line, "HTTP/1.1 407") {
			t.Errorf("without the secret: CONNECT got %q, want 407", line)
		}
		resp, err = http.Get("http://" + address.Host + "/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 407 {
			t.Errorf("as a server: got %d, want 407", resp.StatusCode)
		}
		http.DefaultClient.CloseIdleConnections()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// connect asks a proxy for a tunnel and returns the first line of its answer.
func connect(t testing.TB, proxy *url.URL, to string, secret bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", proxy.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n"
	if secret {
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.String())) + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// TestGuardPublicOnly: private networks are refused to those who may reach public ones only.
func TestGuardPublicOnly(t *testing.T) {
	g := hosts.Guard{PublicOnly: true}
	for _, text := range []string{"10.1.2.3", "192.168.0.1", "172.16.5.5", "100.64.0.1", "fd12:3456::1", "::ffff:10.1.2.3", "64:ff9b::a01:203", "2002:a01:203::1", "127.0.0.1", "169.254.169.254"} {
		if err := g.Check(netip.MustParseAddr(text)); !errors.Is(err, hosts.ErrAddress) {
			t.Errorf("%s: got %v, want ErrAddress", text, err)
		}
	}
	for _, text := range []string{"8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:db8::1", "64:ff9b::808:808"} {
		if err := g.Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
