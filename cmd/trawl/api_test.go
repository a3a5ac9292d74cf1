package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bytes that JSON cannot carry are refused, as they would ask for something else.
func TestAPITextIsUTF8(t *testing.T) {
	keepMemoryLimit(t)
	const latin1 = "{ repository(name: \"caf\xe9\") { name } }"
	file := filepath.Join(t.TempDir(), "latin1.graphql")
	if err := os.WriteFile(file, []byte(latin1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{[]string{latin1}, "", "trawl: the document is not UTF-8\n"},
		{[]string{"--file", file}, "", "trawl: the document is not UTF-8\n"},
		{nil, latin1, "trawl: the document is not UTF-8\n"},
		{[]string{"--var", "n=caf\xe9", "{ a }"}, "", `trawl: --var: "n=caf\xe9" is not UTF-8` + "\n"},
		{[]string{"--vars", "{\"n\": \"caf\xe9\"}", "{ a }"}, "", `trawl: --vars: "{\"n\": \"caf\xe9\"}" is not UTF-8` + "\n"},
	} {
		var stderr bytes.Buffer
		args := append([]string{"api", "--data", t.TempDir()}, c.args...)
		err := run(t.Context(), args, strings.NewReader(c.stdin), io.Discard, &stderr)
		if code := exitCode(err, &stderr); code != 2 || stderr.String() != c.want {
			t.Errorf("%q: got status %d and %q, want 2 and %q", c.args, code, &stderr, c.want)
		}
	}
}
