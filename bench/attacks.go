package bench

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// attack is one way to mean harm.
type attack struct {
	name string
	// wants is what should come of it: a refusal, or an answer that is bounded.
	wants string
	// request makes what is sent, again and again.
	request func() []byte
	// connections, if not 0, is how many are opened at most, on each of which the
	// request is sent once; bytesPerSecond is how fast they read.
	connections, bytesPerSecond int
}

// The outcomes that are wanted of attacks.
const (
	wantRefused = "refused"
	wantBounded = "bounded"
)

// attacks lists them.
func (a *assault) attacks() []attack {
	return slices.Concat(hostileQueries(), hostileRequests(), hostileConnections(a.Words[0]), a.repo.attacks())
}

// get is a request for a stream.
func get(query, patternType string) func() []byte {
	return func() []byte {
		return []byte("GET /.api/search/stream?display=-1&t=" + patternType + "&q=" + url.QueryEscape(query) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	}
}

// post is a request of GraphQL.
func post(body string, headers ...string) func() []byte {
	return func() []byte {
		return fmt.Appendf(nil, "POST /.api/graphql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Requested-With: trawl-bench\r\n%sContent-Length: %d\r\n\r\n%s",
			strings.Join(headers, ""), len(body), body)
	}
}

// many joins n texts that differ.
func many(n int, form, between string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.ReplaceAll(form, "#", fmt.Sprint(i))
	}
	return strings.Join(out, between)
}

func hostileQueries() []attack {
	deep := strings.Repeat("(", 10_000) + "a b" + strings.Repeat(")", 10_000)
	inBody := func(query string) func() []byte {
		return post(`{"query":"query($q:String!){search(query:$q){results{matchCount alert{title}}}}","variables":{"q":"` + query + `"}}`)
	}
	return []attack{
		{name: "regexp (a{0,500}){0,2}z", wants: wantBounded, request: get("(a{0,500}){0,2}z count:all", "regexp")},
		{name: "regexp of a thousand alternatives", wants: wantBounded, request: get(many(1000, "word#", "|")+" count:all", "regexp")},
		{name: "everything, .* count:all", wants: wantBounded, request: get(".* count:all", "regexp")},
		{name: "five hundred regexps of many states", wants: wantBounded, request: get(many(500, `/[ab][^\n]{9}c#/`, " or "), "keyword")},
		{name: "900 alternatives with file filters", wants: wantBounded, request: get(many(900, "(return struct file:.*[a-m].*# file:c)", " or "), "keyword")},
		{name: "5000 file filters", wants: wantBounded, request: get("a "+many(5000, "-file:x#", " "), "keyword")},
		{name: "hostile repo filters", wants: wantRefused, request: get("a "+many(100, "-repo:(x+x+)+y# -repo:(a{0,500}){0,2}z#", " "), "keyword")},
		{name: "query of 10 MB in the address", wants: wantRefused, request: get(strings.Repeat("a", 10<<20), "keyword")},
		{name: "query of 10 MB in the body", wants: wantRefused, request: inBody(strings.Repeat("a", 10<<20))},
		{name: "query of 200 KB", wants: wantRefused, request: get(strings.Repeat("a", 200<<10), "keyword")},
		{name: "100,000 terms", wants: wantRefused, request: inBody(many(100_000, "t#", " "))},
		{name: "nesting of 10,000", wants: wantRefused, request: get(deep, "keyword")},
		{name: "nesting of 10,000 in a regexp", wants: wantRefused, request: get(deep, "regexp")},
	}
}

func hostileRequests() []attack {
	graphql := func(document string) func() []byte { return post(`{"query":"` + document + `"}`) }
	packed := func(text []byte) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text) // to memory
		_ = z.Close()
		return b.String()
	}
	return []attack{
		{name: "header of 1 MB", wants: wantRefused, request: func() []byte {
			return []byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("a", 1<<20) + "\r\n\r\n")
		}},
		{name: "GraphQL, depth of 1,000", wants: wantRefused, request: graphql("{" + strings.Repeat("currentUser{", 1000) + "id" + strings.Repeat("}", 1001))},
		{name: "GraphQL, 100,000 aliases", wants: wantRefused, request: graphql("{" + many(100_000, "a#:__typename", " ") + "}")},
		{name: "GraphQL, 8,000 aliases", wants: wantRefused, request: graphql("{" + many(8000, "a#:__typename", " ") + "}")},
		{name: "GraphQL, fragments in a circle", wants: wantRefused, request: graphql("{...A} fragment A on Query{...B} fragment B on Query{...A}")},
		{name: "GraphQL, fragments that double thirty times", wants: wantRefused, request: graphql("{...F0} " + doubling(30))},
		{name: "GraphQL, a million variables", wants: wantRefused, request: post(`{"query":"{__typename}","variables":{"a":[` + strings.Repeat("0,", 900_000) + `0]}}`)},
		{name: "GraphQL, 10,000 requests in one", wants: wantRefused, request: post("[" + many(10_000, `{"query":"{__typename}"}`, ",") + "]")},
		{name: "GraphQL, introspection over and over", wants: wantRefused,
			request: graphql("{__schema{types" + strings.Repeat("{fields{type", 50) + "{name}" + strings.Repeat("}}", 50) + "}}")},
		{name: "GraphQL, string of 10 MB", wants: wantRefused, request: graphql(strings.Repeat("a", 10<<20))},
		{name: "gzip that unpacks to 256 MB", wants: wantRefused, request: post(packed(make([]byte, 256<<20)), "Content-Encoding: gzip\r\n")},
		{name: "gzip that is none", wants: wantRefused, request: post(`{"query":"{__typename}"}`, "Content-Encoding: gzip\r\n")},
		{name: "gzip that is cut off", wants: wantRefused, request: post(packed([]byte(`{"query":"{__typename}"}`))[:20], "Content-Encoding: gzip\r\n")},
		{name: "another content encoding", wants: wantRefused, request: post("x", "Content-Encoding: br\r\n")},
	}
}

// doubling returns fragments each of which has the next one twice, below fields
// of two names.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "fragment F%d on Query{a:site{id} ...F%d b:site{id} ...F%d} ", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on Query{a:site{id}}", n)
	return b.String()
}

// rapidReset opens a connection of HTTP/2 and n streams, each of which it resets
// at once.
func rapidReset(n int) string {
	var b strings.Builder
	frame := func(kind, flags byte, stream uint32, payload string) {
		b.Write([]byte{0, 0, byte(len(payload)), kind, flags, byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream)})
		b.WriteString(payload)
	}
	const headers, reset, settings = 1, 3, 4
	b.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	frame(settings, 0, 0, "")
	for i := range uint32(n) {
		frame(headers, 5, 2*i+1, "\x82\x86\x84") // GET / over http, with an end
		frame(reset, 0, 2*i+1, "\x00\x00\x00\x08")
	}
	return b.String()
}

func hostileConnections(word string) []attack {
	text := func(s string) func() []byte { return func() []byte { return []byte(s) } }
	const most = 1 << 20
	return []attack{
		{name: "connections without a request", wants: wantBounded, connections: most, request: text("")},
		{name: "heads that do not end", wants: wantBounded, connections: most, request: text("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ")},
		{name: "HTTP/2, which is not served, with rapid resets", wants: wantBounded, connections: 1000, request: text(rapidReset(5000))},
		{name: "bodies that do not come", wants: wantBounded, connections: 2000, request: text("POST /.api/graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{")},
		{name: "open streams that are not read", wants: wantBounded, connections: most, request: get(word+" count:all", "keyword")},
		{name: "500 readers at 1 KB/s", wants: wantBounded, connections: 500, bytesPerSecond: 1000, request: get(word+" count:all", "keyword")},
	}
}
