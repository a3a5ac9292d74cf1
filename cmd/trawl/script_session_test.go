package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
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

// scriptProbe shows a secret to the server in each place where one can stand, and
// where none belongs, and fails when an answer has it again:
//
//	probe $TOKEN
func scriptProbe(ts *testscript.TestScript, _ bool, args []string) {
	secret := args[0]
	// A token has a prefix that is no secret; the value of a cookie may hold any of
	// its characters.
	_, digits, isCookie := strings.Cut(secret, "=")
	if !isCookie {
		digits = secret[strings.LastIndex(secret, "_")+1:]
	}
	for _, p := range probes(secret) {
		req, err := http.NewRequest(p.method, ts.Getenv("URL")+p.path, strings.NewReader(p.body))
		ts.Check(err)
		for i := 0; i+1 < len(p.headers); i += 2 {
			req.Header.Add(p.headers[i], p.headers[i+1])
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		ts.Check(err)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		ts.Check(err)
		for name, values := range resp.Header {
			// A session is told its cookie once more when it is renewed.
			if name != "Set-Cookie" && strings.Contains(strings.Join(values, " "), digits) {
				ts.Fatalf("%s %s with %q: the header %s has the secret: %q", p.method, p.path, p.headers, name, values)
			}
		}
		if strings.Contains(string(body), digits) {
			ts.Fatalf("%s %s with %q: the answer has the secret:\n%s", p.method, p.path, p.headers, body)
		}
	}
}

// probe is a request that holds a secret.
type probe struct {
	method, path, body string
	headers            []string
}

func probes(secret string) []probe {
	var out []probe
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(secret+":"+secret))
	credentials := [][]string{
		{"Authorization", "token " + secret}, {"Authorization", `token token="` + secret + `"`}, {"Authorization", "token " + secret + "x"},
		{"Authorization", `token-sudo user="ann",token="` + secret + `"`}, {"Authorization", `token-sudo user="` + secret + `",token="` + secret + `"`},
		{"Authorization", "token-sudo " + secret}, {"Authorization", "Bearer " + secret}, {"Authorization", basic}, {"Authorization", secret},
		{"Cookie", secret}, {"Cookie", auth.CookieName + "=" + secret, "X-Requested-With", "x"}, {auth.OperatorHeader, secret},
		{"X-Forwarded-For", secret}, {"X-Sourcegraph-Actor-Anonymous-UID", secret}, {"Content-Encoding", "gzip", "Authorization", "token " + secret},
	}
	paths := []string{"/.api/search/stream?q=glaze", "/.api/search/stream?q=(", "/.api/search/export/1.jsonl", "/.api/none", "/", "/sign-in", "/-/trace/none"}
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}`
	document := `{"query":"{ currentUser { username } nothing }"}`
	for _, c := range credentials {
		for _, path := range paths {
			out = append(out, probe{"GET", path, "", c})
		}
		out = append(out, probe{"POST", "/.api/graphql", document, c}, probe{"OPTIONS", "/.api/graphql", "", c}, probe{"POST", "/.api/mcp", message, c})
	}
	for _, path := range paths {
		out = append(out, probe{"GET", path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "token=" + secret, "", nil})
	}
	form := []string{"Content-Type", "application/json"}
	quoted := strconv.Quote(secret)
	for _, body := range []string{
		`{"email":` + quoted + `,"password":` + quoted + `}`, `{"email":"ann","password":` + quoted + `}`, `{"secret":` + quoted + `}`, secret,
		`{"userID":"1","code":` + quoted + `,"password":` + quoted + `}`,
	} {
		for _, path := range []string{"/-/sign-in", "/-/site-init", "/-/reset-password"} {
			out = append(out, probe{"POST", path, body, form})
		}
	}
	byToken := `{"query":"mutation($t: String!) { deleteAccessToken(byToken: $t) { alwaysNil } }","variables":{"t":` + strconv.Quote(secret+"x") + `}}`
	return append(out, probe{"POST", "/.api/graphql?" + secret, byToken, []string{"Authorization", "token " + secret}},
		probe{"GET", "/password-reset?userID=1&code=" + secret, "", nil})
}
