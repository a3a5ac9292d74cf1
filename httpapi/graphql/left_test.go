//go:build unix

package graphql_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/identity"
)

// What an answer is made of ends when its client leaves or its credential ends: git,
// too.
func TestAnswerEndsWithItsClient(t *testing.T) {
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
			t.Run(c.command+", "+end, func(t *testing.T) {
				w := newWorld(t)
				hanging := needs.HangingGit(t, c.command)
				ctx, cancel := context.WithCancel(t.Context())
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+graphql.Path, strings.NewReader(encoded(t, c.document)))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", "token "+w.Tokens["ann"])
				asked := make(chan error, 1)
				go func() {
					resp, err := w.Client.Do(req)
					if err == nil {
						resp.Body.Close()
					}
					asked <- err
				}()
				pid := await(t, "git "+c.command, hanging)
				began := time.Now()
				if end == "the client leaves" {
					cancel()
				} else if err := w.Registry.RevokeTokenText(identity.Operator, w.Tokens["ann"]); err != nil {
					t.Fatal(err)
				} else {
					w.Gate.Recheck()
				}
				await(t, "the end of git "+c.command, func() (int, bool) { return 0, errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
				<-asked
				if took := time.Since(began); took > 30*time.Second { // git itself would hang for ten minutes
					t.Errorf("%s: git %s and its answer went on for %v", end, c.command, took)
				}
				cancel()
			})
		}
	}
}
