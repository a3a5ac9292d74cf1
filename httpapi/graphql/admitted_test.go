package graphql_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// encoded is the body of a request for a document.
func encoded(t testing.TB, document string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// wheelFile asks for a field of a file of the wheel, n times.
func wheelFile(name string, n int, field string) string {
	return `{ repository(name: "lab/wheel") { commit(rev: "") { file(path: "` + name + `") { ` + copies(n, field) + ` } } } }`
}

// What an answer may hold depends on what the server has.
func TestAnswersFitTheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("makes answers of many megabytes")
	}
	w := newWorld(t)
	w.wheel()
	w.api.Admission = httpapi.NewAdmission(2, 32<<20) // of which one client may have 24 MiB
	for _, tt := range []struct{ about, document, want string }{
		{"text", wheelFile("long.txt", 10, "content"), "the text of this answer has more than 4 MiB"},
		{"text that is longer in JSON", wheelFile("lines.txt", 8, "content"), "the text of this answer has more than 4 MiB"},
		{"rows", wheelFile("lines.txt", 1, "highlight(disableTimeout: true) { html }"), "the text of this answer has more than 4 MiB"},
	} {
		if _, got := w.post(encoded(t, tt.document), w.As("ann")...); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %.200s, want %q", tt.about, got, tt.want)
		}
	}
	// Many small values are held, too.
	w.api.Admission = httpapi.NewAdmission(2, 12<<20)
	many := `{ repository(name: "lab/wheel") { commit(rev: "") { ` + copies(150, `tree(path: "many") { entries { path name } }`) + ` } } }`
	if resp, got := w.post(encoded(t, many), w.As("ann")...); resp.StatusCode != http.StatusOK || !strings.Contains(got, "more memory than there is for one") {
		t.Errorf("45,000 values: got %d %.200s", resp.StatusCode, got)
	}
	if _, got := w.post(encoded(t, wheelFile("long.txt", 1, "content")), w.As("ann")...); strings.Contains(got, "errors") {
		t.Errorf("one file of a megabyte: got %.200s", got)
	}
}

// Clients that do not read their answers keep another client from nothing, and
// what they hold is given back when they leave.
func TestSlowReadersOfAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("makes answers of many megabytes")
	}
	w := newWorld(t)
	w.wheel()
	w.endpoint.WriteWithin = 4 * time.Second // a client that reads may have no turn for a while
	w.api.Admission = httpapi.NewAdmission(1, 32<<20)
	body := encoded(t, wheelFile("long.txt", 3, "content"))
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: trawl.example.org\r\nAuthorization: token %s\r\nContent-Length: %d\r\n\r\n%s", graphql.Path, w.Tokens["bob"], len(body), body)
	statuses := make(chan string, 20)
	for range cap(statuses) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		go func() {
			line, _ := bufio.NewReaderSize(conn, 16).ReadString('\n')
			statuses <- strings.TrimSpace(line)
		}()
	}
	for range 5 {
		if resp, got := w.post(encoded(t, wheelFile("turned.txt", 1, "content")), w.As("ann")...); resp.StatusCode != http.StatusOK || strings.Contains(got, "errors") {
			t.Errorf("another client: got %d %.200s", resp.StatusCode, got)
		}
	}
	counts := map[string]int{}
	for range cap(statuses) {
		counts[<-statuses]++
	}
	if counts["HTTP/1.1 200 OK"] == 0 || counts["HTTP/1.1 200 OK"]+counts["HTTP/1.1 503 Service Unavailable"] != cap(statuses) {
		t.Errorf("those who do not read got %v, want 200 and 503", counts)
	}
	// None has read or left, and all were cut off after their time.
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		resp, got := w.post(body, w.As("bob")...)
		if resp.StatusCode == http.StatusOK && !strings.Contains(got, "errors") {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("after two minutes the client that did not read gets %d %.200s", resp.StatusCode, got)
		}
	}
}

// waitingSearcher says who searches, and waits.
type waitingSearcher struct {
	mu      sync.Mutex // guards askers
	askers  []string
	release chan struct{}
}

func (s *waitingSearcher) Search(ctx context.Context, _ *query.Query, o search.Options, _ answer.Sink) search.Outcome {
	s.mu.Lock()
	s.askers = append(s.askers, o.Asker)
	s.mu.Unlock()
	select {
	case <-s.release:
	case <-ctx.Done():
	}
	return search.Outcome{Err: ctx.Err()}
}

// The searches of documents take the turns of their client, and while they wait
// for them no processor is kept from others.
func TestSearchesOfDocumentsTakeTurns(t *testing.T) {
	w := newWorld(t)
	s := &waitingSearcher{release: make(chan struct{})}
	w.endpoint.Searcher = s
	w.api.Admission = httpapi.NewAdmission(1, 32<<20)
	var group sync.WaitGroup
	for _, document := range []string{`{ search(query: "glaze") { results { matchCount } } }`, `{ repository(name: "lab/kiln") { commit(rev: "") { symbols { nodes { name } } } } }`} {
		group.Go(func() {
			if resp, got := w.post(encoded(t, document), w.As("bob")...); resp.StatusCode != http.StatusOK {
				t.Errorf("got %d %s", resp.StatusCode, got)
			}
		})
	}
	await(t, "two searches", func() (int, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return 0, len(s.askers) == 2
	})
	if resp, got := w.post(encoded(t, `{ currentUser { username } }`), w.As("ann")...); resp.StatusCode != http.StatusOK || !strings.Contains(got, "ann") {
		t.Errorf("another client meanwhile: got %d %s", resp.StatusCode, got)
	}
	close(s.release)
	group.Wait()
	if slices.Contains(s.askers, "") || s.askers[0] != s.askers[1] {
		t.Errorf("searches are those of %q, want one client", s.askers)
	}
}

// await waits for a condition.
func await[T any](t *testing.T, what string, done func() (T, bool)) T {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if v, ok := done(); ok {
			return v
		}
	}
	t.Fatalf("waited 30 s for %s", what)
	panic("unreachable")
}

// However often a document lists people, they are read once, and one that changes
// some sees the change.
func TestPeopleAreReadOnce(t *testing.T) {
	w := newWorld(t)
	w.organizations(40)
	w.api.Admission = httpapi.NewAdmission(2, 12<<20)
	list := "{ " + copies(400, "organizations(first: 1) { totalCount }") + " }"
	if resp, got := w.post(encoded(t, list), w.As("root")...); resp.StatusCode != http.StatusOK || strings.Contains(got, "errors") {
		t.Errorf("400 lists of organisations: got %d %.200s", resp.StatusCode, got)
	}
	change := `mutation { a: createOrganization(name: "one") { members { totalCount } } b: createOrganization(name: "two") { members { totalCount } } c: createUser(username: "nina") { user { username } } }`
	resp, got := w.post(encoded(t, change), w.As("root")...)
	if resp.StatusCode != http.StatusOK || strings.Contains(got, "errors") {
		t.Fatalf("got %d %s", resp.StatusCode, got)
	}
	if _, got := w.post(encoded(t, `{ organizations { totalCount } }`), w.As("root")...); !strings.Contains(got, `"totalCount":43`) {
		t.Errorf("got %s, want 43 organisations", got)
	}
}

// A comparison is read up to a number of files, which are told one by one.
func TestLargeComparison(t *testing.T) {
	if testing.Short() {
		t.Skip("makes answers of many megabytes")
	}
	w := newWorld(t)
	kiln := filepath.Join(w.Dir, "kiln")
	var in strings.Builder
	in.WriteString("blob\nmark :1\ndata 5\nclay\n\n")
	for _, n := range []int{20_000, 20_001} {
		fmt.Fprintf(&in, "commit refs/heads/many%d\ncommitter Ada <ada@example.org> 1700000000 +0000\ndata 4\nmany\nfrom refs/heads/main^0\n", n)
		for i := range n {
			fmt.Fprintf(&in, "M 100644 :1 many/%d.txt\n", i)
		}
		in.WriteString("\n")
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = kiln, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for head, want := range map[string]string{"many20000": `"totalCount":20000`, "many20001": "more than 20000 files differ: name paths"} {
		_, got := w.post(encoded(t, `{ repository(name: "lab/kiln") { comparison(base: "main", head: "`+head+`") { fileDiffs(first: 1) { totalCount } } } }`), w.As("ann")...)
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %.300s, want %q", head, got, want)
		}
	}
}

// A search that finds more than fits is answered as far as it fits.
func TestSearchWithLargeResults(t *testing.T) {
	if testing.Short() {
		t.Skip("makes answers of many megabytes")
	}
	w := newWorld(t)
	s := w.git("glost")
	for i := range 60 {
		s.Write(fmt.Sprintf("%d.txt", i), strings.Repeat("clay on the wheel, and more of it\n", 1000))
	}
	s.commit("Throw", 1)
	w.AddSource("lab/glost=" + s.Dir)
	w.Sync("lab/glost")
	w.api.Admission = httpapi.NewAdmission(2, 48<<20)
	document := `{ search(version: V3, query: "repo:glost clay count:all") { results { matchCount limitHit results { ... on FileMatch { file { path } lineMatches { preview lineNumber offsetAndLengths } } } } } }`
	resp, got := w.post(encoded(t, document), w.As("ann")...)
	if resp.StatusCode != http.StatusOK || strings.Contains(got[:min(len(got), 100)], "errors") || !strings.Contains(got, `"matchCount":60000,"limitHit":true`) || !strings.Contains(got, "on the wheel") {
		t.Errorf("got %d %d bytes: %.300s", resp.StatusCode, len(got), got)
	}
}
