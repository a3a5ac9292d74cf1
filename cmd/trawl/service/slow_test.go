package service_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/stream"
)

// slowly asks for a stream and reads no more of it than its head.
func slowly(t *testing.T, address, query string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET /search/stream?q=%s&display=-1 HTTP/1.1\r\nHost: localhost\r\n\r\n", query); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// matchesOf returns the matches of a stream, however they stand in events.
func matchesOf(t *testing.T, body io.Reader) string {
	t.Helper()
	all, err := io.ReadAll(body)
	if err != nil || !strings.HasSuffix(string(all), "event: done\ndata: {}\n\n") {
		t.Fatalf("read stream: %v after %d bytes, want done at the end", err, len(all))
	}
	var out strings.Builder
	for event := range strings.SplitSeq(string(all), "\n\n") {
		if data, ok := strings.CutPrefix(event, "event: matches\ndata: ["); ok {
			out.WriteString(strings.TrimSuffix(data, "]") + ",")
		}
	}
	return out.String()
}

// TestSlowReadersDoNotKeepOthersWaiting: more clients than there are turns ask
// for long answers and read nothing. Others are answered all the same, and each
// of the slow ones gets the whole answer once it reads.
func TestSlowReadersDoNotKeepOthersWaiting(t *testing.T) {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes, set.Memory = t.TempDir(), 0, 128<<20
	svc, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	dir := filepath.Join(t.TempDir(), "kiln")
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "glaze %d of the kiln, of which there are more than anybody reads\n", i)
	}
	commit(t, dir, "f00.txt", text.String())
	for i := range 19 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d.txt", i+1)), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, dir, "last.txt", "kiln\n")
	if _, err := svc.Repositories().Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := svc.Repositories().Sync(t.Context(), "kiln", ignore); err != nil {
		t.Fatal(err)
	}
	server := &httpapi.Server{Addr: "127.0.0.1:0", Searcher: svc, Streams: stream.Limits{SharedBytes: 64 << 10}}
	if err := server.Open(); err != nil {
		t.Fatal(err)
	}
	defer server.Close(t.Context())
	address := strings.TrimPrefix(server.URL(), "http://")
	const streams = 20 // turns are 8
	var slow []*http.Response
	for range streams {
		slow = append(slow, slowly(t, address, "glaze+count:all"))
	}
	client := &http.Client{Timeout: 3 * time.Minute}
	defer client.CloseIdleConnections()
	for range 20 {
		resp, err := client.Get(server.URL() + "/search/stream?q=type:file+anybody+count:1")
		if err != nil {
			t.Fatal(err)
		}
		if got := matchesOf(t, resp.Body); !strings.Contains(got, "glaze") {
			t.Fatalf("while %d clients read nothing, another found %q", streams, got)
		}
		resp.Body.Close()
	}
	want := ""
	for i, resp := range slow {
		got := matchesOf(t, resp.Body)
		if i == 0 {
			want = got
		}
		if n := strings.Count(got, `"lineNumber"`); n != 20*400 || got != want {
			t.Errorf("slow client %d got %d lines, %d bytes; want %d, the same %d bytes as the first", i, n, len(got), 20*400, len(want))
		}
		resp.Body.Close()
	}
}
