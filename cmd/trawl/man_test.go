package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Each command has a manual page with all its flags and examples, and no other has
// one.
func TestManuals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if err := run(context.Background(), []string{"man", dir}, strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		written[f.Name()] = string(text)
	}
	// cobra adds its own commands when it runs one.
	root := (&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}).rootCommand()
	root.InitDefaultHelpCmd()
	eachCommand(root, func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, ok := written[name]
		delete(written, name)
		if cmd.Name() == "help" {
			return
		}
		if !ok {
			t.Errorf("trawl man writes no %s", name)
			return
		}
		for _, want := range []string{".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
		if strings.Contains(page, "Usage:") {
			t.Errorf("%s: the line with the usage is in it twice", name)
		}
		cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(page, `\-\-`+f.Name) && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s: flag --%s is missing", name, f.Name)
			}
		})
		for line := range strings.Lines(cmd.Long) {
			if strings.HasPrefix(line, "  trawl ") && !strings.Contains(plainRoff(page), strings.TrimSpace(line)) {
				t.Errorf("%s: example is missing: %s", name, line)
			}
		}
	})
	for name := range written {
		if !strings.HasPrefix(name, "trawl-completion") && !strings.HasPrefix(name, "trawl-help") {
			t.Errorf("%s is the page of no command", name)
		}
	}
}

// eachCommand calls f with a command and those below it.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		eachCommand(c, f)
	}
}

// plainRoff takes the escapes of roff away.
func plainRoff(page string) string {
	return strings.NewReplacer(`\-`, "-", `\\`, `\`, `\&`, "", `\e`, `\`, `\(aq`, "'").Replace(page)
}

// Scripts for shells are made of the commands there are.
func TestCompletions(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out bytes.Buffer
		if err := run(context.Background(), []string{"completion", shell}, strings.NewReader(""), &out, &bytes.Buffer{}); err != nil || out.Len() < 1000 {
			t.Errorf("completion %s: got %d bytes and %v", shell, out.Len(), err)
		}
	}
	for _, c := range []struct{ typed, want string }{
		{"sta", "status"}, {"repo ", "skipped"}, {"serve --debug-", "--debug-listen"}, {"user reset", "reset-password"},
	} {
		var out bytes.Buffer
		args := append([]string{"__complete"}, strings.Split(c.typed, " ")...)
		if err := run(context.Background(), args, strings.NewReader(""), &out, &bytes.Buffer{}); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("completion of %q: got %q and %v, want %s in it", c.typed, &out, err, c.want)
		}
	}
}
