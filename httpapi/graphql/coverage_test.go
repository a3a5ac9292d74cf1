package graphql_test

import (
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

// TestEveryFieldIsAsked: each field of each type is selected by a document of
// testdata, all of which TestQueries sends over HTTP. A field of an interface
// that is selected counts for all types that have it.
func TestEveryFieldIsAsked(t *testing.T) {
	schema := loadSchema(t)
	asked := map[string]bool{}
	for _, file := range queryFiles(t) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".json") {
				continue
			}
			document, errs := gqlparser.LoadQueryWithRules(schema, strings.ReplaceAll(string(f.Data), "()", ""), nil)
			if errs != nil {
				t.Fatalf("%s, %s: %v", file, f.Name, errs)
			}
			for _, op := range document.Operations {
				ask(schema, asked, op.SelectionSet)
			}
			for _, fragment := range document.Fragments {
				ask(schema, asked, fragment.SelectionSet)
			}
		}
	}
	for _, def := range schema.Types {
		if def.Kind != ast.Object || strings.HasPrefix(def.Name, "__") {
			continue
		}
		for _, field := range def.Fields {
			if name := def.Name + "." + field.Name; !asked[name] && !strings.HasPrefix(field.Name, "__") {
				t.Errorf("no document in testdata/queries asks for %s", name)
			}
		}
	}
}

// ask marks what a selection asks for.
func ask(schema *ast.Schema, asked map[string]bool, set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			for _, def := range schema.GetPossibleTypes(s.ObjectDefinition) {
				asked[def.Name+"."+s.Name] = true
			}
			asked[s.ObjectDefinition.Name+"."+s.Name] = true
			ask(schema, asked, s.SelectionSet)
		case *ast.InlineFragment:
			ask(schema, asked, s.SelectionSet)
		}
	}
}

// TestSchemaIsExplained: whoever opens the documentation finds a sentence for
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
	resp, err := w.client.Get(w.url + graphql.Path + "/schema.graphql")
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
