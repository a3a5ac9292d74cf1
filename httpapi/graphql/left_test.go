//go:build unix

package graphql_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/identity"
)

// What an answer is made of ends within 2 s when its client leaves or its
// credential ends: git, too.
func TestAnswerEndsWithItsClient(t *testing.T) {
	needs.Program(t, "sh")
	needs.Program(t, "sleep")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	at := func(fields string) string {
		return `{ repository(name: "lab/kiln") { a: commit(rev: "main") { ` + fields + ` } b: commit(rev: "main") { ` + fields + ` } } }`
	}
	for _, c := range []struct{ command, document string }{
		{"rev-list", at(`ancestors(first: 5000) { nodes { oid } }`)},
		{"diff-tree", at(`diff { fileDiffs { nodes { newPath } } }`)},
		{"for-each-ref", `{ repository(name: "lab/kiln") { gitRefs { nodes { name } } } }`},
		{"blame", at(`blob(path: "main.go") { blame(startLine: 1, endLine: 2) { rev } }`)},
		{"cat-file", at(`message`)},
	} {
		for _, end := range []string{"the client leaves", "the token is revoked"} {
			w := newWorld(t)
			dir, path := t.TempDir(), os.Getenv("PATH")
			pidFile := filepath.Join(dir, "pid")
			script := "#!/bin/sh\ncase \" $* \" in *\" " + c.command + " \"*) echo $$ >'" + pidFile + ".new'; mv '" + pidFile + ".new' '" + pidFile + "'; exec sleep 600;; esac\nexec '" + git + "' \"$@\"\n"
			if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+path)
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+graphql.Path, strings.NewReader(encoded(t, c.document)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "token "+w.tokens["ann"])
			asked := make(chan error, 1)
			go func() {
				resp, err := w.client.Do(req)
				if err == nil {
					resp.Body.Close()
				}
				asked <- err
			}()
			pid := await(t, "git "+c.command, func() (int, bool) {
				text, err := os.ReadFile(pidFile)
				pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
				return pid, err == nil && pid > 0
			})
			began := time.Now()
			if end == "the client leaves" {
				cancel()
			} else if err := w.registry.RevokeTokenText(identity.Operator, w.tokens["ann"]); err != nil {
				t.Fatal(err)
			} else {
				w.gate.Recheck()
			}
			await(t, "the end of git "+c.command, func() (int, bool) { return 0, errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
			<-asked
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%s: git %s and its answer went on for %v", end, c.command, took)
			}
			cancel()
			t.Setenv("PATH", path)
		}
	}
}
