package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/httpapi/client"
)

// tokenVariable names the environment variable with the access token for
// --server: flags can be read by everybody on the machine.
const tokenVariable = "TRAWL_TOKEN"

// serverFlag adds --server to a command that has settings. The returned
// function gives its value, "" for none, and refuses an invalid URL and flags
// that have no effect beside it.
func serverFlag(cmd *cobra.Command) func() (string, error) {
	server := &textFlag{kind: "URL"}
	cmd.Flags().Var(server, "server", "ask this server instead of the data directory")
	return func() (string, error) {
		if server.text == "" {
			return "", nil
		}
		for _, name := range append([]string{"config"}, searchSettings...) {
			if cmd.Flags().Changed(name) {
				return "", fmt.Errorf("--server asks another server, which has settings of its own: leave out --%s, or --server", name)
			}
		}
		if u, err := url.Parse(server.text); err != nil || u.Host == "" {
			return "", fmt.Errorf("--server: %q is no address of a server: write http://127.0.0.1:7080", server.text)
		}
		return server.text, nil
	}
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
