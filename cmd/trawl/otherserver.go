package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/trawlsearch/trawl/httpapi/client"
)

// tokenVariable names the environment variable with the access token for
// --server: flags can be read by everybody on the machine.
const tokenVariable = "TRAWL_TOKEN"

// checkServer refuses a value of --server that no request could go to; "" is none.
func checkServer(server string) error {
	if u, err := url.Parse(server); server != "" && (err != nil || u.Host == "") {
		return fmt.Errorf("--server: %q is no address of a server: write http://127.0.0.1:7080", server)
	}
	return nil
}

// serverParams is how requests to --server are sent, with the access token of the
// environment if there is one. end is called behind the last.
func serverParams() (p client.Params, end func()) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	p.HTTP = &http.Client{Transport: transport}
	if token := os.Getenv(tokenVariable); token != "" {
		p.Header = http.Header{"Authorization": {"token " + token}}
	}
	return p, transport.CloseIdleConnections
}
