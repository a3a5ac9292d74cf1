package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// proxied is a proxy of docs/deploy in front of a server.
type proxied struct {
	t *testing.T
	// url is where the proxy listens, client trusts its certificate.
	url    string
	client *http.Client
	// more lets a stream go on, gone is closed when a request has ended.
	more, gone chan struct{}
	// read is how much of a body has arrived.
	read chan int64
}

// TestProxiesAtWork runs the snippets in the programs that they are for.
func TestProxiesAtWork(t *testing.T) {
	for name, start := range map[string]func(*testing.T, string, string) *exec.Cmd{"nginx": startNginx, "caddy": startCaddy} {
		for _, version := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/HTTP%d", name, version), func(t *testing.T) {
				p := newProxied(t, version, start)
				p.streams()
				p.endsSearches()
				p.tellsWhoAsks()
				p.passesAnswers()
				p.takesLongQueries()
				p.refusesLargeBodies()
			})
		}
	}
}

// TestClusterProxies has one node away, one that is not current, and one that is.
func TestClusterProxies(t *testing.T) {
	for name, start := range map[string]func(*testing.T, string, string) *exec.Cmd{"nginx": startClusterNginx, "caddy": startClusterCaddy} {
		t.Run(name, func(t *testing.T) {
			p := newProxied(t, 2, start)
			for n, begun := 0, time.Now(); n < 20; n++ {
				switch res, text := p.get("/headers"); {
				case res.StatusCode == http.StatusOK:
				case time.Since(begun) > patience:
					t.Fatalf("a request got %s %q, want the answer of the node that is current", res.Status, text)
				default:
					n = 0 // a proxy may have to find out which nodes are well
				}
			}
			p.streams()
		})
	}
}

// behind is a node that is not current.
func behind(t *testing.T) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func startClusterNginx(t *testing.T, upstream, listen string) *exec.Cmd {
	return runNginx(t, listen, "cluster-nginx.conf", "10.0.0.5:7080", freeAddress(t), "10.0.0.6:7080", behind(t), "10.0.0.7:7080", upstream)
}

func startClusterCaddy(t *testing.T, upstream, listen string) *exec.Cmd {
	return runCaddy(t, listen, "cluster-Caddyfile", "10.0.0.5:7080", freeAddress(t), "10.0.0.6:7080", behind(t), "10.0.0.7:7080", upstream)
}

func newProxied(t *testing.T, version int, start func(t *testing.T, upstream, listen string) *exec.Cmd) *proxied {
	p := &proxied{t: t, more: make(chan struct{}), gone: make(chan struct{}), read: make(chan int64, 8)}
	upstream := httptest.NewServer(p.routes())
	t.Cleanup(upstream.Close)
	listen := freeAddress(t)
	cmd := start(t, strings.TrimPrefix(upstream.URL, "http://"), listen)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Path, &log)
		}
	})
	// The certificate is of a key that was made for this test.
	secure := &tls.Config{InsecureSkipVerify: true, ServerName: "search.example.org"}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(version == 1)
	protocols.SetHTTP2(version == 2)
	transport := &http.Transport{TLSClientConfig: secure, DisableCompression: true, Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	p.url, p.client = "https://"+listen, &http.Client{Transport: transport}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := tls.Dial("tcp", listen, secure)
		if err == nil {
			_ = c.Close()
			return p
		}
		if time.Since(begun) > patience {
			t.Fatalf("%s does not listen: %v", cmd.Path, err)
		}
	}
}

// routes are those of a server that does what the test tells it.
func (p *proxied) routes() http.Handler {
	mux := http.NewServeMux()
	event := func(w http.ResponseWriter, name string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: "+name+"\n")
		_ = http.NewResponseController(w).Flush()
	}
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		event(w, "first")
		select {
		case <-p.more:
			event(w, "second")
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/search", func(w http.ResponseWriter, r *http.Request) {
		event(w, "first")
		<-r.Context().Done()
		close(p.gone)
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q %s %q %q %d", r.Header.Values("X-Forwarded-For"), r.Host, r.Header.Values("X-Forwarded-Proto"),
			r.Header.Get("Authorization"), len(r.URL.RawQuery))
	})
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/refusal", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "opening data directory\n")
	})
	mux.HandleFunc("/compressed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "not really")
	})
	mux.HandleFunc("/body", func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body) // a proxy may cut it off
		p.read <- n
	})
	return mux
}

func (p *proxied) ask(ctx context.Context, method, path string, body io.Reader, header ...string) *http.Response {
	p.t.Helper()
	resp, err := p.try(ctx, method, path, body, header...)
	if err != nil {
		p.t.Fatalf("%s %.60s: %v", method, path, err)
	}
	return resp
}

// try is ask that may fail.
func (p *proxied) try(ctx context.Context, method, path string, body io.Reader, header ...string) (*http.Response, error) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Host = "search.example.org"
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := p.client.Do(req)
	if err == nil {
		p.t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func (p *proxied) get(path string, header ...string) (*http.Response, string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	resp := p.ask(ctx, http.MethodGet, path, nil, header...)
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatalf("%.60s: %v", path, err)
	}
	return resp, string(text)
}

// streams: an event arrives before the next one is made, and as it was sent.
func (p *proxied) streams() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	resp := p.ask(ctx, http.MethodGet, "/stream", nil, "Accept-Encoding", "gzip")
	if got := resp.Header.Get("Content-Encoding"); got != "" {
		p.t.Errorf("a stream is compressed with %s on its way", got)
	}
	lines := bufio.NewReader(resp.Body)
	for _, want := range []string{"event: first\n", "event: second\n"} {
		line, err := lines.ReadString('\n')
		if err != nil || line != want {
			p.t.Fatalf("stream: got %q, %v, want %q while the stream is open", line, err, want)
		}
		if want == "event: first\n" {
			select {
			case p.more <- struct{}{}:
			case <-ctx.Done():
				p.t.Fatal("stream: its request has ended")
			}
		}
	}
}

// endsSearches: the request behind the proxy ends when its client goes away.
func (p *proxied) endsSearches() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	if _, err := p.ask(ctx, http.MethodGet, "/search", nil).Body.Read(make([]byte, 5)); err != nil {
		p.t.Fatal(err)
	}
	cancel()
	select {
	case <-p.gone:
	case <-time.After(patience):
		p.t.Error("the client is gone, its search goes on")
	}
}

// tellsWhoAsks: the address is that of the connection, whatever the client says.
func (p *proxied) tellsWhoAsks() {
	p.t.Helper()
	_, got := p.get("/headers", "X-Forwarded-For", "192.0.2.6", "X-Forwarded-Proto", "gopher", "Authorization", "token x")
	if want := `["127.0.0.1"] search.example.org ["https"] "token x" 0`; got != want {
		p.t.Errorf("behind the proxy: got %s, want %s", got, want)
	}
}

// passesAnswers: refusals and what is compressed already stay as they are.
func (p *proxied) passesAnswers() {
	p.t.Helper()
	resp, text := p.get("/refusal")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "7" || text != "opening data directory\n" {
		p.t.Errorf("refusal: got %s, Retry-After %q, %q", resp.Status, resp.Header.Get("Retry-After"), text)
	}
	if resp, text := p.get("/compressed", "Accept-Encoding", "gzip"); resp.Header.Get("Content-Encoding") != "gzip" || text != "not really" {
		p.t.Errorf("a compressed answer: got encoding %q and %q", resp.Header.Get("Content-Encoding"), text)
	}
}

// takesLongQueries of the most that trawl takes, and some more.
func (p *proxied) takesLongQueries() {
	p.t.Helper()
	const length = 200_000
	if resp, text := p.get("/headers?" + strings.Repeat("q", length)); !strings.HasSuffix(text, fmt.Sprint(" ", length)) {
		p.t.Errorf("a query of %d bytes: got %s, %.80s", length, resp.Status, text)
	}
}

func (p *proxied) refusesLargeBodies() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for _, c := range []struct {
		bytes int64
		well  bool
	}{{2 << 20, true}, {20 << 20, false}} {
		resp, err := p.try(ctx, http.MethodPost, "/body", bytes.NewReader(make([]byte, c.bytes)))
		for tries := 0; err != nil && !c.well && tries < 10; tries++ {
			// The proxy closes half a second after its refusal, which a client that had no turn does not read.
			resp, err = p.try(ctx, http.MethodPost, "/body", bytes.NewReader(make([]byte, c.bytes)))
		}
		if err != nil {
			p.t.Fatalf("a body of %d bytes: %v", c.bytes, err)
		}
		if (resp.StatusCode == http.StatusOK) != c.well {
			p.t.Errorf("a body of %d bytes: got %s", c.bytes, resp.Status)
		}
		select {
		case n := <-p.read:
			if (n == c.bytes) != c.well {
				p.t.Errorf("a body of %d bytes: %d arrived", c.bytes, n)
			}
		default: // refused before anything was sent on
			if c.well {
				p.t.Errorf("a body of %d bytes did not arrive", c.bytes)
			}
		}
	}
}

// rewritten is a file of docs/deploy with some of its words replaced, each of
// which must be there.
func rewritten(t *testing.T, name string, words ...string) string {
	t.Helper()
	text := readDeploy(t, name)
	for i := 0; i < len(words); i += 2 {
		if !strings.Contains(text, words[i]) {
			t.Fatalf("%s: no %q", name, words[i])
		}
		text = strings.ReplaceAll(text, words[i], words[i+1])
	}
	return text
}

func startNginx(t *testing.T, upstream, listen string) *exec.Cmd {
	return runNginx(t, listen, "nginx.conf", "127.0.0.1:7080;\n\tkeepalive", upstream+";\n\tkeepalive")
}

// runNginx runs a file of docs/deploy with some of its words replaced.
func runNginx(t *testing.T, listen, name string, words ...string) *exec.Cmd {
	path, dir := needs.Program(t, "nginx"), t.TempDir()
	cert, key := certificate(t, dir)
	site := rewritten(t, name, append(words, "listen 443", "listen "+listen, "/etc/ssl/search.example.org.pem", cert, "/etc/ssl/search.example.org.key", key)...)
	main := "daemon off; master_process off; pid pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		main += kind + "_temp_path " + kind + ";\n"
	}
	conf := filepath.Join(dir, "nginx.conf")
	writeText(t, conf, main+site+"}\n")
	return exec.Command(path, "-p", dir, "-e", "stderr", "-c", conf)
}

func startCaddy(t *testing.T, upstream, listen string) *exec.Cmd {
	return runCaddy(t, listen, "Caddyfile", "reverse_proxy 127.0.0.1:7080", "reverse_proxy "+upstream)
}

// runCaddy does the same.
func runCaddy(t *testing.T, listen, name string, words ...string) *exec.Cmd {
	path, dir := needs.Program(t, "caddy"), t.TempDir()
	cert, key := certificate(t, dir)
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		t.Fatal(err)
	}
	site := rewritten(t, name, append(words, "search.example.org {", "search.example.org:"+port+" {\n\tbind 127.0.0.1\n\ttls "+cert+" "+key)...)
	conf := filepath.Join(dir, "Caddyfile")
	writeText(t, conf, "{\n\tadmin off\n\tauto_https off\n}\n"+site)
	cmd := exec.Command(path, "run", "--adapter", "caddyfile", "--config", conf)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	return cmd
}

// freeAddress is an address on this machine that no process listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := tcpproxy.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// certificate writes one of search.example.org and its key into dir.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "search.example.org"}, DNSNames: []string{"search.example.org"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeText(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})))
	writeText(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	return cert, key
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
