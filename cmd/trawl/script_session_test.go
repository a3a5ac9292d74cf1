package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trawlsearch/trawl/httpapi/auth"
)

// scriptSignIn signs in with a password that a file holds, expects a status,
// and keeps the cookie of the session in a variable:
//
//	signin 200 COOKIE ann password
func scriptSignIn(ts *testscript.TestScript, _ bool, args []string) {
	body, err := json.Marshal(map[string]string{"email": args[2], "password": strings.TrimSpace(ts.ReadFile(args[3]))})
	ts.Check(err)
	resp, err := http.Post(ts.Getenv("URL")+"/-/sign-in", "application/json", strings.NewReader(string(body)))
	ts.Check(err)
	defer resp.Body.Close()
	if got := strconv.Itoa(resp.StatusCode); got != args[0] {
		ts.Fatalf("sign in as %s: got %s, want %s", args[2], got, args[0])
	}
	for _, c := range resp.Cookies() {
		if c.Name == auth.CookieName {
			ts.Setenv(args[1], c.Name+"="+c.Value)
		}
	}
}
