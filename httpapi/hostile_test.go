package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
)

// echo is a route that reads a body whole, as those for forms and GraphQL do.
func echo(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return &httpapi.Error{Status: http.StatusBadRequest, Message: "the body cannot be read"}
	}
	_, err = fmt.Fprintf(w, "%d bytes", len(body))
	return err
}

// hostileServer is one that waits for heads and for bodies so long, 0 for as long as it
// does by default.
func hostileServer(t *testing.T, head, body time.Duration) *httpapi.Server {
	s := newServer(nothing)
	s.Extra = []httpapi.Route{{Method: "POST", Path: "/echo", Handler: echo}}
	s.HeaderTimeout, s.BodyTimeout = head, body
	open(t, s)
	return s
}

// served checks that another client is answered. One that has no turn for so long that its
// head is late, which is closed without an answer, asks again.
func served(t *testing.T, s *httpapi.Server) {
	t.Helper()
	ask := func() (*http.Response, error) { return newClient(t).Get(s.URL() + "/.api/search/stream?q=x") }
	resp, err := ask()
	for begun := time.Now(); err != nil && time.Since(begun) < patience; {
		resp, err = ask()
	}
	if err != nil {
		t.Fatalf("another client: %v", err)
	}
	if body := bodyOf(t, resp); resp.StatusCode != 200 || !strings.HasSuffix(body, "event: done\ndata: {}\n\n") {
		t.Fatalf("another client gets %d %q", resp.StatusCode, body)
	}
}

// sendRaw sends a request as it is and returns the status of the answer, 0 for none.
func sendRaw(t *testing.T, url, request string) (status int, err error) {
	t.Helper()
	conn := dialRaw(t, url)
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, request) }() // the server may be gone before the end
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	_ = resp.Body.Close()
	return resp.StatusCode, nil
}

// Whatever bytes come instead of a request, the answer is a refusal or a plain
// answer, and others are served.
func TestHostileRequests(t *testing.T) {
	s := hostileServer(t, 0, time.Second)
	get := func(path, headers string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n"
	}
	post := func(headers, body string) string {
		return "POST /echo HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body
	}
	long := strings.Repeat("a", 1<<20)
	for _, tt := range []struct {
		name, request string
		status        []int // any of them; 0 is no answer at all
	}{
		// heads
		{"header of 1 MB", get("/healthz", "X-A: "+long+"\r\n"), []int{431}},
		{"path of 1 MB", get("/"+long, ""), []int{431}},
		{"a hundred thousand headers", get("/healthz", strings.Repeat("A: b\r\n", 100_000)), []int{431}},
		{"a cookie of 200 KB", get("/healthz", "Cookie: a="+long[:200<<10]+"\r\n"), []int{200}},
		{"ten thousand cookies", get("/healthz", "Cookie: "+strings.Repeat("a=b; ", 10_000)+"\r\n"), []int{200}},
		{"no request", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello, TLS\r\n\r\n", []int{400}},
		{"another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{301, 400, 404, 505}},
		{"an old one", "GET /healthz\r\n\r\n", []int{400}},
		{"no host", "GET /healthz HTTP/1.1\r\n\r\n", []int{400}},
		{"two hosts", get("/healthz", "Host: y\r\n"), []int{400}},
		{"a header folded", get("/healthz", "X-A: b\r\n c\r\n"), []int{200, 400}},
		{"a header with NUL", get("/healthz", "X-A: b\x00c\r\n"), []int{400}},
		{"bytes behind the head", get("/healthz", "") + strings.Repeat("\x00", 1000), []int{200}},
		// paths
		{"path with NUL", get("/a%00b", ""), []int{404, 400}},
		{"path upwards", get("/../../etc/passwd", ""), []int{301, 400, 404}},
		{"path upwards, hidden", get("/%2e%2e/%2e%2e/etc/passwd", ""), []int{301, 400, 404}},
		{"assets upwards", get("/.assets/x/..%2f..%2fgo.mod", ""), []int{301, 400, 404}},
		{"path of slashes", get(strings.Repeat("/", 100_000), ""), []int{301, 400, 404}},
		{"bad escapes", get("/%zz%", ""), []int{400}},
		{"query of bad escapes", get("/.api/search/stream?q=%zz&%=%", ""), []int{200, 400}},
		{"a million parameters", get("/.api/search/stream?"+strings.Repeat("&", 200_000), ""), []int{200, 400}},
		{"a range of a stream", get("/.api/search/stream?q=x", "Range: bytes=0-1,2-3,5-\r\n"), []int{200}},
		// credentials
		{"a basic name of rubbish", get("/.api/search/stream?q=x", "Authorization: Basic \x01\x02\xff\r\n"), []int{200, 400, 401}},
		{"a token of 200 KB", get("/.api/search/stream?q=x", "Authorization: token "+long[:200<<10]+"\r\n"), []int{401, 200, 400}},
		// bodies
		{"two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"), []int{400}},
		{"length and chunks", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), []int{200, 400}},
		{"a length below zero", post("Content-Length: -1\r\n", ""), []int{400}},
		{"a length beyond all", post("Content-Length: 99999999999999999999\r\n", ""), []int{400}},
		{"chunks of rubbish", post("Transfer-Encoding: chunked\r\n", "zz\r\nhello\r\n0\r\n\r\n"), []int{400}},
		{"a chunk of 2^63", post("Transfer-Encoding: chunked\r\n", "8000000000000000\r\nhello"), []int{400}},
		{"extensions of chunks", post("Transfer-Encoding: chunked\r\n", "1;"+long[:100_000]+"\r\nx\r\n0\r\n\r\n"), []int{400}},
		{"another coding", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), []int{400, 501}},
		{"more than may be", post("Content-Length: 2000000\r\n", long+long[:951424]), []int{400, 413}},
	} {
		got, err := sendRaw(t, s.URL(), tt.request)
		// net/http closes half a second after it refused a head. Where a client is still
		// writing it then, a reset overtakes the answer; the writer may be told of it, and
		// then the reader meets an end.
		for tries := 0; tries < 30 && got == 0 && !errors.Is(err, os.ErrDeadlineExceeded); tries++ {
			got, err = sendRaw(t, s.URL(), tt.request)
		}
		ok := false
		for _, want := range tt.status {
			ok = ok || got == want
		}
		if !ok {
			t.Errorf("%s: status %d, want one of %v (%v)", tt.name, got, tt.status, err)
		}
		served(t, s)
	}
}

// HTTP/2 is not served, with knowledge beforehand or by an upgrade: streams by
// the thousand on one connection, resets in quick succession and endless frames
// are never read.
func TestHTTP2IsNotServed(t *testing.T) {
	s := hostileServer(t, 0, 0)
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frame := func(kind, flags byte, stream uint32, payload string) string {
		head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:]
		return string(binary.BigEndian.AppendUint32(append(head, kind, flags), stream)) + payload
	}
	const headers, rst, settings, continuation = 1, 3, 4, 9
	// :method GET, :scheme http, :path /
	const block = "\x82\x86\x84"
	var streams, resets strings.Builder
	for i := range uint32(5000) {
		open := frame(headers, 5, 2*i+1, block)
		streams.WriteString(open)
		resets.WriteString(open + frame(rst, 0, 2*i+1, "\x00\x00\x00\x08"))
	}
	endless := frame(headers, 0, 1, block) + strings.Repeat(frame(continuation, 0, 1, strings.Repeat("\x40\x01a\x01b", 100)), 1000)
	for name, frames := range map[string]string{"nothing": "", "streams": streams.String(), "rapid reset": resets.String(), "continuations": endless} {
		conn := dialRaw(t, s.URL())
		go func() { _, _ = io.WriteString(conn, preface+frame(settings, 0, 0, "")+frames) }() // the server is gone before the end
		answer, _ := io.ReadAll(conn)                                                         // a reset is as good as an end
		if bytes.Contains(answer, []byte(frame(settings, 1, 0, ""))) || len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.1 ")) {
			t.Errorf("%s: got %.100q", name, answer)
		}
		_ = conn.Close()
		served(t, s)
	}
	conn := dialRaw(t, s.URL())
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 1 {
		t.Errorf("an upgrade: got %v, %v, want 200 by HTTP/1.1", resp, err)
	}
}

// A head or body that does not come is not waited for, and many of them keep no
// other client from being served.
func TestSlowloris(t *testing.T) {
	s := hostileServer(t, 300*time.Millisecond, 300*time.Millisecond)
	for name, begin := range map[string]string{
		"a head": "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ",
		"a body": "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhel",
		"chunks": "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel",
	} {
		const many = 100
		ends := make(chan string, many)
		for range many {
			conn := dialRaw(t, s.URL())
			if _, err := io.WriteString(conn, begin); err != nil {
				t.Fatal(err)
			}
			go func() {
				defer conn.Close()
				all, _ := io.ReadAll(conn) // until the server has closed
				ends <- string(all)
			}()
		}
		served(t, s)
		for range many {
			if answer := within(t, "the end of "+name, ends); strings.Contains(answer, " 200 ") {
				t.Errorf("%s that did not come is answered with %q", name, answer)
			}
		}
	}
	// A body that came does not end the answer that follows. On a busy machine it may come
	// late, more than once.
	var body string
	var err error
	for begun := time.Now(); body != "5 bytes" && time.Since(begun) < patience; {
		var resp *http.Response
		if resp, err = newClient(t).Post(s.URL()+"/echo", "text/plain", strings.NewReader("hello")); err == nil {
			body = bodyOf(t, resp)
		}
	}
	if body != "5 bytes" {
		t.Errorf("a body in time: got %q, %v", body, err)
	}
}
