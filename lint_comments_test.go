package trawl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestPackageComments: each package tells the data's path in its doc.go.
func TestPackageComments(t *testing.T) {
	comments := map[string]string{} // of doc.go, by package
	all := sources(t)
	for _, s := range all {
		if s.name == s.pkg+"/doc.go" {
			comments[s.pkg] = s.file.Doc.Text()
		}
	}
	seen := map[string]bool{"": true} // the root holds tests only
	for _, s := range all {
		if s.test || seen[s.pkg] {
			continue
		}
		seen[s.pkg] = true
		want := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			want = "Command " + s.pkg[strings.LastIndex(s.pkg, "/")+1:] + " "
		}
		if got := comments[s.pkg]; !strings.HasPrefix(got, want) {
			t.Errorf("%s/doc.go: the package comment starts with %.40q, want %q and then what comes in and what goes out",
				s.pkg, got, want)
		}
	}
}

func TestExportedComments(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, name := range unexplained(s.file) {
			if inside(s.pkg, "httpapi/graphql/...") && isMethod(s.file, name) {
				continue // a field of the schema, whose description is there
			}
			t.Errorf("%s: exported %s needs a comment that is a sentence and starts with %[2]s", s.at(name.Pos()), name.Name)
		}
	}
}

// isMethod reports whether a name is that of a method.
func isMethod(f *ast.File, name *ast.Ident) bool {
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Name == name && fn.Recv != nil
	})
}

func TestUnexplained(t *testing.T) {
	tests := []struct{ src, want string }{
		// functions and methods
		{"// F does.\nfunc F() {}", ""},
		{"// A comment.\nfunc F() {}", "F"},
		{"// Further on.\nfunc F() {}", "F"},
		{"// F does it without an end\nfunc F() {}", "F"},
		{"func F() {}\nfunc f() {}", "F"},
		{"//go:noinline\nfunc F() {}", "F"},
		{"// T is.\ntype T int\nfunc (t *T) M() {}", "M"},
		{"// T is.\ntype T[E any] int\nfunc (t *T[E]) M() {}", "M"},
		{"type t int\nfunc (t) M() {}", ""},
		{"// T is.\ntype T int\nfunc (T) String() string", ""},
		{"func String() string", "String"},
		// types
		{"type T int", "T"},
		{"// A T is.\ntype T int", ""},
		{"// Types.\ntype (\n\tT int\n\t// U is.\n\tU int\n)", "T"},
		{"// T is one, U the other.\ntype (\n\tT int\n\tU int\n)", ""},
		// constants and variables, alone and in groups
		{"const C = 1", "C"},
		{"// C and D are.\nconst C, D = 1, 2", ""},
		{"const (\n\tC = 1\n\tD = 2 // why\n\tc = 3\n)", "C"},
		{"// The limits.\nconst (\n\tC = 1\n\tD = 2\n)", ""},
		{"// The limits.\nconst (\n\t// c is.\n\tC = 1\n)", "C"},
	}
	for _, tt := range tests {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+tt.src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range unexplained(f) {
			got = append(got, name.Name)
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("unexplained(%q) = %q, want %q", tt.src, g, tt.want)
		}
	}
}

// unexplained returns the exported names that have no sentence of their own. A
// group of constants or variables may share one, and so may a group of types
// if it names each.
func unexplained(f *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) && !wellKnown(d) && !explains(d.Doc, d.Name) {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names = append(names, unexplainedSpec(d, spec)...)
			}
		}
	}
	return names
}

func unexplainedSpec(d *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	alone := !d.Lparen.IsValid()
	switch s := spec.(type) {
	case *ast.TypeSpec:
		doc := s.Doc
		if alone {
			doc = d.Doc
		} else if doc == nil && mentions(d.Doc, s.Name) {
			return nil
		}
		if s.Name.IsExported() && !explains(doc, s.Name) {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		doc := s.Doc
		if alone {
			doc = d.Doc
		} else if doc == nil && (d.Doc != nil || s.Comment != nil) {
			return nil
		}
		i := slices.IndexFunc(s.Names, (*ast.Ident).IsExported)
		if i >= 0 && !explains(doc, s.Names[i]) {
			return s.Names[i : i+1]
		}
	}
	return nil
}

// mentions tells whether a comment has a name among its words.
func mentions(doc *ast.CommentGroup, name *ast.Ident) bool {
	return slices.Contains(strings.FieldsFunc(doc.Text(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}), name.Name)
}

// explains tells whether a comment is a sentence that starts with a name,
// after an article if need be.
func explains(doc *ast.CommentGroup, name *ast.Ident) bool {
	text := strings.TrimSpace(doc.Text())
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	rest, ok := strings.CutPrefix(text, name.Name)
	return ok && strings.IndexAny(rest, " ,:'\n") == 0 && strings.ContainsAny(rest, ".:")
}

// wellKnown are the methods whose comment could only repeat their names. A
// comment that has more to say may start as it likes.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"String", "Error", "Unwrap"}, d.Name.Name)
}

// exportedReceiver tells whether a function can be seen from outside: what
// belongs to a hidden type is seen only through an interface.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return true
		}
	}
}
