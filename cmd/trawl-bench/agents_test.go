package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
	"github.com/trawlsearch/trawl/internal/needs"
)

// Both agents find what a file says, and neither finds what only another line says.
func TestAgents(t *testing.T) {
	needs.Program(t, "rg")
	dir := t.TempDir()
	source := filepath.Join(dir, "repositories", "kiln")
	if err := os.MkdirAll(filepath.Join(source, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("// brick upon brick\n", 300) + "func fire(brick int) { heat(brick) }\n" + strings.Repeat("// brick upon brick\n", 300)
	if err := os.WriteFile(filepath.Join(source, "src", "it's kiln.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	commit := ""
	for _, line := range []string{"init -q", "add .", "-c user.name=Ann -c user.email=ann@example.com commit -qm kiln", "rev-parse HEAD"} {
		out, err := exec.Command("git", append([]string{"-C", source}, strings.Fields(line)...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
		commit = strings.TrimSpace(string(out))
	}
	block := "\nname: %s\nrepository: kiln\nkind: behaviour\nquestion: Which function does fire a brick?\nterms: fire brick\nanswer: src/it's kiln.go:%d: %s\n"
	questions := filepath.Join(dir, "questions.txt")
	set := "repository: kiln\ncommit: " + commit + "\n" + fmt.Sprintf(block, "found", 301, "func fire(brick int) { heat(brick) }") + fmt.Sprintf(block, "far", 601, "// brick upon brick")
	if err := os.WriteFile(questions, []byte(set), 0o644); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report.json")
	var out bytes.Buffer
	args := []string{"agents", "--trawl", builtTrawl(t), "--repositories", filepath.Dir(source), "--questions", questions, "--work", filepath.Join(dir, "work"), "--json", report}
	if err := run(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.AgentsReport
	if err := json.Unmarshal(written, &r); err != nil {
		t.Fatal(err)
	}
	for _, q := range r.Questions {
		for _, e := range q.Efforts {
			if e.Found != (q.Name == "found") || e.Calls < 1 || e.Calls > 5 || e.Bytes < 30 || e.Found && e.Calls != 1 {
				t.Errorf("%s: %+v", q.Name, e)
			}
		}
	}
	if len(r.Questions) != 2 || len(r.Questions[0].Efforts) != 2 || !strings.Contains(out.String(), "trawl did not find far") {
		t.Errorf("%d questions:\n%s", len(r.Questions), &out)
	}
}
