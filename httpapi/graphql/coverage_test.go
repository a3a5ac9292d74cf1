package graphql_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/trawlsearch/trawl/httpapi/graphql"
)

func loadSchema(t testing.TB) *ast.Schema {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: graphql.SDL()})
	if err != nil {
		t.Fatalf("schema: %v", err)
	}
	return s
}

// TestEveryFieldIsAnswered: each field of each type stands in a golden answer of
// testdata, all of which TestQueries gets over HTTP. A field of an interface
// that is answered counts for all types that have it.
func TestEveryFieldIsAnswered(t *testing.T) {
	schema := loadSchema(t)
	answered := map[string]bool{}
	for _, file := range queryFiles(t) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".json") {
				continue
			}
			document, errs := gqlparser.LoadQueryWithRules(schema, strings.ReplaceAll(string(f.Data), "()", ""), nil)
			if errs != nil {
				t.Fatalf("%s, %s: %v", file, f.Name, errs)
			}
			var answer struct{ Data any }
			if err := json.Unmarshal(archive.Files[i+1].Data, &answer); err != nil {
				t.Fatalf("%s, %s: %v", file, f.Name, err)
			}
			for _, op := range document.Operations {
				find(schema, answered, op.SelectionSet, answer.Data)
			}
		}
	}
	for _, def := range schema.Types {
		if def.Kind != ast.Object || strings.HasPrefix(def.Name, "__") || absent[def.Name] != "" {
			continue
		}
		for _, field := range def.Fields {
			if name := def.Name + "." + field.Name; !answered[name] && !strings.HasPrefix(field.Name, "__") {
				t.Errorf("no answer in testdata/queries has %s", name)
			}
		}
	}
}

// find marks the fields of a selection that an answer has.
func find(schema *ast.Schema, answered map[string]bool, set ast.SelectionSet, answer any) {
	if list, ok := answer.([]any); ok {
		for _, v := range list {
			find(schema, answered, set, v)
		}
		return
	}
	object, ok := answer.(map[string]any)
	if !ok {
		return
	}
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			value, ok := object[s.Alias]
			if !ok {
				continue
			}
			for _, def := range schema.GetPossibleTypes(s.ObjectDefinition) {
				answered[def.Name+"."+s.Name] = true
			}
			answered[s.ObjectDefinition.Name+"."+s.Name] = true
			find(schema, answered, s.SelectionSet, value)
		case *ast.InlineFragment:
			find(schema, answered, s.SelectionSet, object)
		case *ast.FragmentSpread:
			find(schema, answered, s.Definition.SelectionSet, object)
		}
	}
}

// absent are the types that no answer has, and why.
var absent = map[string]string{
	"CodyLLMConfiguration": "of another product", "EvaluatedFeatureFlag": "there are no flags", "ExternalAccount": "accounts are local",
	"GitBlobLSIFData": "of another product", "Hover": "of another product", "LocationConnection": "of another product",
	"Redirect": "names do not redirect", "RepoCorruptionLog": "nothing is damaged there; damage_test.go has it", "RepositoryIndexHost": "there is one machine",
	"SearchQueryAnnotation": "proposals have none",
	"UpdateQueue":           "syncs are not queued one by one", "UpdateSchedule": "all are synced together",
}

// TestSchemaIsExplained: the documentation has a sentence for
// everything.
func TestSchemaIsExplained(t *testing.T) {
	explained := func(name, text string) {
		if !strings.HasSuffix(text, ".") || strings.TrimSpace(text) != text {
			t.Errorf("the description of %s is %q, want a sentence", name, text)
		}
	}
	for _, def := range loadSchema(t).Types {
		if def.BuiltIn || strings.HasPrefix(def.Name, "__") {
			continue
		}
		explained(def.Name, def.Description)
		for _, v := range def.EnumValues {
			explained(def.Name+"."+v.Name, v.Description)
		}
		for _, field := range def.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			explained(def.Name+"."+field.Name, field.Description)
			for _, arg := range field.Arguments {
				explained(def.Name+"."+field.Name+"("+arg.Name+")", arg.Description)
			}
		}
	}
}

// TestSchemaIsServed: what is served is what answers, and what is in the
// repository.
func TestSchemaIsServed(t *testing.T) {
	w := newWorld(t)
	resp, err := w.Client.Get(w.URL + graphql.Path + "/schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	served := bodyOf(t, resp)
	if served != graphql.SDL() {
		t.Error("the schema that is served is not that of the package")
	}
	files, err := filepath.Glob("schema/*.graphql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(served, string(text)) {
			t.Errorf("the schema that is served lacks %s", file)
		}
	}
	// The types that answer are those of the text.
	var answer struct {
		Schema struct{ Types []struct{ Name string } } `json:"__schema"`
	}
	w.data(&answer, `{ __schema { types { name } } }`, nil)
	known := loadSchema(t).Types
	for _, typ := range answer.Schema.Types {
		if known[typ.Name] == nil {
			t.Errorf("type %s answers and is not in the schema", typ.Name)
		}
	}
	if len(answer.Schema.Types) < 80 {
		t.Errorf("introspection tells of %d types", len(answer.Schema.Types))
	}
}
