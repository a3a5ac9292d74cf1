package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// server is a running trawl serve. Its starter must call stop.
type server struct {
	*asker
	*process
}

// serve starts trawl serve on a free port and waits until it is ready.
func (t *trawl) serve(ctx context.Context) (*server, error) {
	addr, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"serve", "--data", t.data, "--listen", addr}, t.configured(), t.serveArgs)
	cmd := exec.Command(t.binary, args...)
	cmd.Env = t.env()
	a := newAsker("http://"+addr, t.token)
	p, err := startProcess(ctx, "trawl serve", cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &a.client, a.base+"/readyz")
	})
	if err != nil {
		return nil, err
	}
	return &server{a, p}, nil
}

// answersOK reports whether a GET of url is answered with 200.
func answersOK(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// stop ends the connections and the server.
func (s *server) stop() error {
	s.close()
	return s.process.stop()
}

// repositories returns the names of what is indexed.
func (s *server) repositories(ctx context.Context) ([]string, error) {
	f := newFound()
	if _, err := s.search(ctx, "count:all repo:.", "keyword", f.add); err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	return sortedKeys(f.repositories), nil
}
