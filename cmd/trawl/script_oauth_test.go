package main

import (
	"bufio"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trawlsearch/trawl/httpapi/oauth"
)

// scriptOAuth posts a form, expects a status, and keeps the tokens of the answer
// in variables, where there are any:
//
//	oauth 200 ACCESS REFRESH /.auth/idp/oauth/token grant_type=refresh_token refresh_token=$REFRESH
func scriptOAuth(ts *testscript.TestScript, _ bool, args []string) {
	form := url.Values{}
	for _, pair := range args[4:] {
		name, value, _ := strings.Cut(pair, "=")
		form.Set(name, value)
	}
	status, answer := postForm(ts, args[3], form)
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("POST %s: got %d %v, want %s", args[3], status, answer, args[0])
	}
	for i, name := range []string{"access_token", "refresh_token"} {
		if token, ok := answer[name].(string); ok {
			ts.Setenv(args[1+i], token)
		}
	}
}

func postForm(ts *testscript.TestScript, path string, form url.Values) (status int, answer map[string]any) {
	resp, err := http.PostForm(ts.Getenv("URL")+path, form)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if len(body) > 0 {
		if err := json.Unmarshal(body, &answer); err != nil {
			ts.Fatalf("POST %s: %d %q: %v", path, resp.StatusCode, body, err)
		}
	}
	return resp.StatusCode, answer
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// letIn opens the page that a program gave its user, in a browser with a
// session, and presses the button.
func letIn(ts *testscript.TestScript, cookie, link string) {
	browse := func(method string, body io.Reader) string {
		req, err := http.NewRequest(method, link, body)
		ts.Check(err)
		req.Header.Set("Cookie", cookie)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultTransport.RoundTrip(req)
		ts.Check(err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		ts.Check(err)
		if resp.StatusCode != http.StatusOK {
			ts.Fatalf("%s %s: %d %s", method, link, resp.StatusCode, text)
		}
		return string(text)
	}
	form := url.Values{"decision": {"allow"}}
	for _, m := range hiddenField.FindAllStringSubmatch(browse(http.MethodGet, nil), -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	if page := browse(http.MethodPost, strings.NewReader(form.Encode())); !strings.Contains(page, "signed in as you") {
		ts.Fatalf("%s: the program was not let in: %s", link, page)
	}
}

// scriptDevice signs in by the device flow as src does, and keeps the tokens in
// variables:
//
//	device ACCESS REFRESH $COOKIE
func scriptDevice(ts *testscript.TestScript, _ bool, args []string) {
	const app = "sgo_cid_sourcegraph-cli"
	_, begun := postForm(ts, oauth.DeviceCodePath, url.Values{"client_id": {app}, "scope": {"email offline_access openid profile user:all"}})
	link, _ := begun["verification_uri_complete"].(string)
	code, _ := begun["device_code"].(string)
	letIn(ts, args[2], link)
	status, answer := postForm(ts, oauth.TokenPath, url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {app}, "device_code": {code},
	})
	if status != http.StatusOK {
		ts.Fatalf("device: %d %v", status, answer)
	}
	for i, name := range []string{"access_token", "refresh_token"} {
		ts.Setenv(args[i], answer[name].(string))
	}
}

// scriptSrcLogin runs src login, which shows a link, opens that, and expects that
// src ends and knows who it is:
//
//	srclogin $COOKIE ann
func scriptSrcLogin(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command("src", "login", ts.Getenv("URL"))
	home := ts.Getenv("WORK")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config")}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }() // it has ended if all went well
	link := regexp.MustCompile(`https?://\S+/device\?user_code=[A-Z-]+`)
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if found := link.FindString(lines.Text()); found != "" {
			letIn(ts, args[0], found)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "Authenticated as "+args[1]) {
		ts.Fatalf("src login: %v\n%s", err, said.String())
	}
}
