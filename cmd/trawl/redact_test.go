package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
)

// outlets collects all that leaves a program.
type outlets struct {
	t    *testing.T
	mu   sync.Mutex
	said map[string]string
}

// note keeps what left somewhere.
func (o *outlets) note(where, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said[where] += text
}

// run runs a command, whatever comes of it.
func (o *outlets) run(stdin string, args ...string) string {
	o.t.Helper()
	var stdout, stderr bytes.Buffer
	_ = exitCode(run(o.t.Context(), args, strings.NewReader(stdin), &stdout, &stderr), &stderr)
	where := strings.Join(args[:min(len(args), 2)], " ")
	o.note(where, stdout.String())
	o.note(where+", standard error", stderr.String())
	return strings.TrimSpace(stdout.String())
}

// ask sends a request as a user.
func (o *outlets) ask(client *http.Client, token, method, address, body string) string {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+token)
	resp, err := client.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	o.note(method+" "+req.URL.Path, string(answer))
	if resp.StatusCode != http.StatusOK {
		o.t.Errorf("%s %s: %s: %.200s", method, address, resp.Status, answer)
	}
	return string(answer)
}

// graphQL sends a document with one variable.
func (o *outlets) graphQL(client *http.Client, token, server, document string, input any) string {
	o.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": map[string]any{"input": input}})
	if err != nil {
		o.t.Fatal(err)
	}
	return o.ask(client, token, http.MethodPost, server+"/.api/graphql", string(body))
}

const mark = "S3cr3tMark"

// secretAddresses are addresses with a secret in each part, beside odd
// characters. Nothing listens on port 1.
func secretAddresses() []string {
	var all []string
	for _, odd := range []string{"", "'", `"`, " ", "@", "%", "[", "é", "&x", "\\", ";", "$(x)"} {
		for _, secret := range []string{mark + odd + mark, odd + mark} {
			for _, s := range []string{url.QueryEscape(secret), secret} {
				all = append(all, "http://me:"+s+"@127.0.0.1:1/x", "http://"+s+"@[::1]:1/x", "http://127.0.0.1:1/x?private_token="+s)
			}
		}
	}
	return append(all, "http://127.0.0.1:1/x#"+mark, "http://me:"+mark+"\n@127.0.0.1:1/x", "http://me:"+mark+"/@127.0.0.1:1/x", "ext::sh -c "+mark+"@x",
		"me:"+mark+"@127.0.0.1/x", "http://"+mark+"=x@127.0.0.1:1/x", "ftp://me:"+mark+"@127.0.0.1:1/x", "-http://me:"+mark+"@127.0.0.1:1/x")
}

// TestSecretsOfAddressesLeaveNowhere puts a secret into every part of addresses
// and looks for it in all that leaves the program.
func TestSecretsOfAddressesLeaveNowhere(t *testing.T) {
	if testing.Short() {
		t.Skip("runs most commands")
	}
	keepMemoryLimit(t)
	t.Chdir(t.TempDir()) // some are also names of folders
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("TRAWL_DATA", data)
	o := &outlets{t: t, said: map[string]string{}}
	o.run("", "index", repository(t, "kiln"))
	o.run("correct horse battery", "user", "create", "ann", "--admin", "--password-stdin")
	token := o.run("", "token", "create", "ann", "--scope", "user:all", "--scope", "site-admin:sudo")

	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "debug", "--log-format", "json", "--metrics-access", "everyone", "--sync-interval", "0"},
			strings.NewReader(""), io.Discard, &log)
	}()
	awaitReady(t, data)
	f, err := serverfile.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	server := f.URL()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()

	addresses := secretAddresses()
	for i, address := range addresses {
		o.run("", "repo", "add", "r"+strconv.Itoa(i)+"="+address)
		if i%12 == 0 {
			o.run("", "repo", "sync", "r"+strconv.Itoa(i))
		}
		o.run("", "backup", "create", strings.Replace(address, "http://", "s3://", 1))
		o.graphQL(client, token, server, `mutation($input: AddExternalServiceInput!) { addExternalService(input: $input) { config url lastSyncError } }`,
			map[string]any{"kind": "OTHER", "displayName": "s" + strconv.Itoa(i), "config": configOf(t, address)})
	}
	shown := o.graphQL(client, token, server, `{
		repositories(first: 1000) { nodes { name externalRepository { id serviceID } externalURLs { url } mirrorInfo { remoteURL lastError } } }
		externalServices(first: 1000) { nodes { config url warning lastSyncError } }
		statusMessages { __typename ... on SyncError { message } ... on CloningProgress { message } ... on ExternalServiceSyncError { message } }
	}`, nil)
	if n := strings.Count(shown, "127.0.0.1:1/x"); n < 50 {
		t.Errorf("%d addresses are shown, want more: %.2000s", n, shown)
	}
	for _, path := range []string{"/-/repositories", "/site-admin/repositories", "/site-admin/repositories/1", "/site-admin/external-services", "/site-admin/audit", "/site-admin/nodes", "/site-admin/backups", "/site-admin/configuration", "/site-admin/overview", "/metrics", "/search?q=glaze"} {
		o.ask(client, token, http.MethodGet, server+path, "")
	}
	for _, args := range []string{"repo list", "repo list --json", "status", "status --json", "audit list --limit 1000", "audit list --json --limit 1000"} {
		o.run("", strings.Fields(args)...)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	o.run("", "backup", "create", kept)
	o.run("", "backup", "list", kept, "--json")
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	o.note("the log", log.String())
	o.run("", "check")
	record, err := os.ReadFile(filepath.Join(data, "backup", "record.json"))
	if err != nil {
		t.Error(err)
	}
	o.note("the record of backups", string(record))
	for where, text := range o.said {
		if i := strings.Index(text, mark); i >= 0 {
			t.Errorf("%s shows a secret: …%s…", where, text[max(0, i-200):min(len(text), i+100)])
		}
		t.Logf("%s: %d bytes", where, len(text))
	}
}

// configOf is the configuration of an external service with one address.
func configOf(t *testing.T, address string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"url": address, "repos": []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
