package trawl_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// everywhere are the programs that tests may run without asking: those of every
// machine that builds trawl; trawl, which tests build; and src, which scripts
// ask for themselves with [exec:src].
var everywhere = []string{"git", "go", "trawl", "src"}

// Tests run with Go and git alone. They get other programs from package needs,
// which skips a test and names the package that it needs.
func TestHelperProgramsAreAskedFor(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test || s.pkg == "internal/needs" {
			continue
		}
		for _, call := range bareCalls(s.file) {
			t.Errorf("%s: tests may not count on %s: get its path from internal/needs", s.at(call.pos), call.program)
		}
	}
}

func TestBareCalls(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{`exec.Command("rm", "-f")`, "[rm]"},
		{`exec.CommandContext(ctx, "sleep", "1").Run()`, "[sleep]"},
		{`exec.LookPath("rg")`, "[rg]"},
		{`exec.Command("git", "sh")`, "[]"},
		{`exec.CommandContext(ctx, "go", "build")`, "[]"},
		{`exec.Command(path, "rm")`, "[]"},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+tt.src+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, call := range bareCalls(f) {
			got = append(got, call.program)
		}
		if g := fmt.Sprint(got); g != tt.want {
			t.Errorf("%s: got %s, want %s", tt.src, g, tt.want)
		}
	}
}

// bareCall is a place where a program is run or looked for by a constant name.
type bareCall struct {
	pos     token.Pos
	program string
}

// bareCalls finds where a file runs or looks for programs that are not
// everywhere.
func bareCalls(f *ast.File) []bareCall {
	named := map[string]int{"Command": 0, "CommandContext": 1, "LookPath": 0} // where functions of os/exec take the name
	var calls []bareCall
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		at, known := named[fun.Sel.Name]
		if pkg, ok := fun.X.(*ast.Ident); !ok || pkg.Name != "exec" || !known || at >= len(call.Args) {
			return true
		}
		literal, ok := call.Args[at].(*ast.BasicLit)
		if !ok {
			return true
		}
		program, err := strconv.Unquote(literal.Value)
		if err == nil && !slices.Contains(everywhere, program) {
			calls = append(calls, bareCall{call.Pos(), program})
		}
		return true
	})
	return calls
}
