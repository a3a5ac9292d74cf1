package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/openapi"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store/identity"
)

// schemas are those of the document, which JSON Schema 2020-12 must take.
type schemas struct {
	t        *testing.T
	compiler *jsonschema.Compiler
}

func newSchemas(t *testing.T) *schemas {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.Document()))
	if err != nil {
		t.Fatal(err)
	}
	s := &schemas{t, jsonschema.NewCompiler()}
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.AssertFormat()
	if err := s.compiler.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return s
}

// check says what is wrong with a JSON text as the schema of that name.
func (s *schemas) check(name, text string) error {
	s.t.Helper()
	schema, err := s.compiler.Compile("openapi.json#/components/schemas/" + name)
	if err != nil {
		s.t.Fatalf("schema %s: %v", name, err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// checkStream holds each event of a transcript against its schema, and returns
// how often each name came.
func (s *schemas) checkStream(from, transcript string) map[string]int {
	s.t.Helper()
	names := map[string]int{}
	for event := range strings.SplitSeq(strings.TrimSuffix(transcript, "\n\n"), "\n\n") {
		head, data, ok := strings.Cut(event, "\n")
		name, isName := strings.CutPrefix(head, "event: ")
		data, isData := strings.CutPrefix(data, "data: ")
		if !ok || !isName || !isData {
			s.t.Errorf("%s: %q is no event", from, event)
			continue
		}
		whole, err := json.Marshal(map[string]any{"event": name, "data": json.RawMessage(data)})
		if err != nil {
			s.t.Errorf("%s: data of %s: %v", from, name, err)
			continue
		}
		if err := s.check("StreamEvent", string(whole)); err != nil {
			s.t.Errorf("%s: the event %.500s\nis not as described: %v", from, event, err)
		}
		names[name]++
	}
	return names
}

// A schema that takes everything describes nothing.
func TestSchemas(t *testing.T) {
	s := newSchemas(t)
	for _, tt := range []struct {
		name, text string
		good       bool
	}{
		{"Done", `{}`, true},
		{"Done", `{"x":1}`, false},
		{"StreamEvent", `{"event":"done","data":{}}`, true},
		{"StreamEvent", `{"event":"done","data":[]}`, false},
		{"StreamEvent", `{"event":"other","data":{}}`, false},
		{"StreamEvent", `{"event":"matches","data":[]}`, false},
		{"Match", `{"type":"repo","repositoryID":1,"repository":"r"}`, true},
		{"Match", `{"type":"repo","repositoryID":"1","repository":"r"}`, false},
		{"Match", `{"type":"diff","repositoryID":1,"repository":"r"}`, false},
		{"Match", `{"type":"content","path":"a","repositoryID":1,"repository":"r","hunks":null}`, false},
		{"Progress", `{"done":true,"matchCount":0,"durationMs":1,"skipped":null}`, false},
		{"ClientConfig", `{"codyEnabled":false}`, false},
	} {
		if err := s.check(tt.name, tt.text); (err == nil) != tt.good {
			t.Errorf("%s as %s: got %v, want good %t", tt.text, tt.name, err, tt.good)
		}
	}
}

// Transcripts that the tests of the stream record are what the document says.
func TestTranscripts(t *testing.T) {
	s := newSchemas(t)
	files, err := filepath.Glob("../stream/testdata/transcripts/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d transcripts, %v", len(files), err)
	}
	seen := map[string]int{}
	for _, f := range append(files, "../stream/event/testdata/events.txt") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, events, _ := strings.Cut(string(text), "event: ") // the request stands before
		for name, n := range s.checkStream(filepath.Base(f), "event: "+events) {
			seen[name] += n
		}
	}
	want := []string{"alert", "done", "error", "filters", "matches", "progress"}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("the transcripts have the events %q, want %q", got, want)
	}
}

// searcher finds one match of each kind.
type searcher struct{}

func (searcher) Search(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	when := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	team := "kiln"
	repo := &query.Repository{
		ID: 1, Name: "lab/kiln", Stars: 3, LastFetched: when, Description: "d", Fork: true, Archived: true, Private: true,
		Topics: []string{"t"}, Metadata: map[string]*string{"team": &team, "tag": nil},
	}
	spot := query.Range{Start: query.Location{Offset: 1, Line: 0, Column: 1}, End: query.Location{Offset: 2, Line: 0, Column: 2}}
	spots := []query.Range{spot}
	who := query.Signature{Name: "Ada", Email: "ada@example.org", Date: when}
	oid := strings.Repeat("a", 40)
	file := query.FileMatch{Repo: repo, Path: "a.go", Commit: oid, Rev: "main", Language: "Go", PathRanges: spots, Debug: "why"}
	path, content, symbols := file, file, file
	content.Chunks = []query.Chunk{{Content: []byte("clay\n"), Ranges: spots}}
	symbols.Symbols = []query.Symbol{{Name: "f", Kind: "function", Container: "c", Line: 1}}
	matches := []query.Match{
		&path, &content, &symbols, &query.RepoMatch{Repo: repo, HasRev: true, NameRanges: spots, DescriptionRanges: spots}, &query.RepoMatch{Repo: &query.Repository{ID: 2, Name: "r"}},
		&query.CommitMatch{Repo: repo, OID: oid, Author: who, Committer: who, Message: "Mix", Body: "Mix", Ranges: spots},
		&query.CommitMatch{Repo: repo, OID: oid, Author: who, Committer: who, Message: "Mix", IsDiff: true, Body: "a b\n+x\n"},
		&query.OwnerMatch{Repo: repo, Handle: "ada"}, &query.OwnerMatch{Repo: repo, Email: "ada@example.org"}, &query.OwnerMatch{Repo: repo, Handle: "clay", IsTeam: true},
	}
	o.Report.Add(matches)
	_ = sink.Send(matches)
	o.Report.Exclude(1, 2)
	o.Report.Skips().Add(report.TimedOut([]string{"lab/kiln"}))
	o.Report.Finish(false)
	return search.Outcome{}
}

func ask(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w
}

// What handlers answer is what the document says.
func TestAnswers(t *testing.T) {
	s := newSchemas(t)
	server := &httpapi.Server{Searcher: searcher{}, Log: zerolog.Nop(), Extra: openapi.Routes()}
	h := server.Handler()
	types := map[string]bool{}
	for _, path := range []string{"/.api/search/stream?q=clay", "/.api/search/stream?q=clay&cm=true&cl=3", "/search/stream?q=clay"} {
		transcript := ask(t, h, path).Body.String()
		s.checkStream(path, transcript)
		for _, m := range regexp.MustCompile(`"type":"([a-z]+)"`).FindAllStringSubmatch(transcript, -1) {
			types[m[1]] = true
		}
	}
	want := []string{"commit", "content", "path", "person", "repo", "symbol", "team"}
	if got := slices.Sorted(maps.Keys(types)); !slices.Equal(got, want) {
		t.Errorf("results are of the types %q, want %q", got, want)
	}
	trace := ask(t, h, "/.api/search/stream?q=clay").Header().Get("X-Trace")
	for path, name := range map[string]string{
		"/-/trace/" + trace + "?format=json": "Trace", "/.api/src-cli/version": "SrcVersion",
	} {
		if err := s.check(name, ask(t, h, path).Body.String()); err != nil {
			t.Errorf("%s is no %s: %v", path, name, err)
		}
	}
	if got := ask(t, h, openapi.Path); got.Header().Get("Content-Type") != "application/json" || !json.Valid(got.Body.Bytes()) {
		t.Errorf("the document is %s, %d bytes", got.Header().Get("Content-Type"), got.Body.Len())
	}
}

func TestClientConfig(t *testing.T) {
	s := newSchemas(t)
	server := &httpapi.Server{Searcher: searcher{}, Log: zerolog.Nop()}
	var config httpapi.Handler
	for _, r := range server.Routes() {
		if r.Path == "/.api/client-config" {
			config = r.Handler
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(auth.WithActor(r.Context(), &auth.Actor{User: &identity.User{ID: 1}}))
	if err := config(w, r); err != nil {
		t.Fatal(err)
	}
	if err := s.check("ClientConfig", w.Body.String()); err != nil {
		t.Error(err)
	}
}

// operation is what is read of one here.
type operation struct {
	OperationID string `json:"operationId"`
	Summary     string
	Tags        []string
	Parameters  []struct{ Name, In, Ref string }
	Responses   map[string]json.RawMessage
	Security    []map[string][]string
}

// The document is whole: references lead somewhere, variables of paths are
// described, ids are unique, and every schema compiles.
func TestDocument(t *testing.T) {
	var doc struct {
		OpenAPI    string
		Tags       []struct{ Name string }
		Paths      map[string]map[string]operation
		Components struct {
			Parameters      map[string]struct{ Name, In string }
			Responses       map[string]any
			Schemas         map[string]any
			SecuritySchemes map[string]any
		}
	}
	text := bytes.ReplaceAll(openapi.Document(), []byte(`"$ref"`), []byte(`"ref"`))
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("it is of version %q", doc.OpenAPI)
	}
	ids := map[string]string{}
	for path, item := range doc.Paths {
		for method, op := range item {
			at := method + " " + path
			if other := ids[op.OperationID]; other != "" || op.OperationID == "" || op.Summary == "" || len(op.Responses) == 0 {
				t.Errorf("%s: id %q (also of %q), summary %q, %d answers", at, op.OperationID, other, op.Summary, len(op.Responses))
			}
			ids[op.OperationID] = at
			if len(op.Tags) != 1 || !slices.ContainsFunc(doc.Tags, func(t struct{ Name string }) bool { return t.Name == op.Tags[0] }) {
				t.Errorf("%s: tags %q", at, op.Tags)
			}
			var in []string
			for _, p := range op.Parameters {
				if p.Ref != "" {
					c := doc.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
					p.Name, p.In = c.Name, c.In
				}
				if p.In == "path" {
					in = append(in, p.Name)
				}
			}
			var want []string
			for _, m := range regexp.MustCompile(`\{([a-z]+)\}`).FindAllStringSubmatch(path, -1) {
				want = append(want, m[1])
			}
			if !slices.Equal(in, want) {
				t.Errorf("%s: describes the variables %q, has %q", at, in, want)
			}
			for _, one := range op.Security {
				for name := range one {
					if doc.Components.SecuritySchemes[name] == nil {
						t.Errorf("%s: no security scheme %q", at, name)
					}
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`"ref": "#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		found := map[string]bool{
			"schemas": doc.Components.Schemas[m[2]] != nil, "responses": doc.Components.Responses[m[2]] != nil, "parameters": doc.Components.Parameters[m[2]].Name != "",
		}
		if !found[m[1]] {
			t.Errorf("%s leads nowhere", m[0])
		}
	}
	s := newSchemas(t)
	for name := range doc.Components.Schemas {
		if _, err := s.compiler.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
	if ops := openapi.Operations(); len(ops) != len(ids) {
		t.Errorf("there are %d operations and %d ids", len(ops), len(ids))
	}
}
