package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/span"
)

const (
	// listTimeout is how long a service may take to answer, maxListBytes how
	// much it may answer.
	listTimeout  = time.Minute
	maxListBytes = 16 << 20
)

// Listed is a repository of a service.
type Listed struct {
	Source ingest.Source
	// Facts are what a code host says of it, nil for KindOther.
	Facts *codehost.Repository
}

// Listing is what a service has.
type Listing struct {
	Repositories []Listed
	// Failed names the parts that could not be read: what is missing may be in them.
	Failed []string
	// Left describes what cannot be taken.
	Left []string
	// Readers asks who may read a repository; it is nil if readers are not taken from the
	// host.
	Readers func(ctx context.Context, r *codehost.Repository) ([]codehost.Reader, error)
}

// List asks the service for its repositories, or lists those that the configuration
// names.
func (c *Config) List(ctx context.Context, clients *Clients, service uint32, known codehost.Known) (Listing, error) {
	switch {
	case c.account != nil:
		return c.listHost(ctx, clients.of(service, c.URL, c.account.Pace), known)
	case c.ReposURL != nil:
		return c.listURLs(ctx, clients.of(service, c.ReposURL, 0))
	case c.ReposFile != "":
		return c.listFile()
	case c.Asked:
		return c.ask(ctx, clients.Guard)
	}
	var out Listing
	for _, repo := range c.Repos {
		src, err := c.source(repo, "")
		if err != nil {
			return out, err
		}
		out.Repositories = append(out.Repositories, Listed{Source: src})
	}
	return out, nil
}

// hostTimeout is how long a code host may take to list all that it has.
const hostTimeout = time.Hour

// listHost asks a code host.
func (c *Config) listHost(ctx context.Context, client *codehost.Client, known codehost.Known) (Listing, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	host, err := c.account.Connect(c.URL, client.HTTP())
	if err != nil {
		return Listing{}, err
	}
	found, err := host.List(ctx, known)
	if err != nil {
		return Listing{}, unanswered(c.URL, err)
	}
	out := Listing{Failed: found.Failed, Left: found.Left}
	if says, ok := host.(codehost.Permissions); ok && c.account.TakesReaders {
		out.Readers = says.Readers
	}
	for i := range found.Repositories {
		facts := &found.Repositories[i]
		if !c.account.Rules.Takes(facts) {
			continue
		}
		src, err := c.hostSource(facts)
		if err != nil {
			out.Left = append(out.Left, err.Error())
			continue
		}
		out.Repositories = append(out.Repositories, Listed{src, facts})
	}
	return out, nil
}

// hostSource makes the source of a repository of a code host.
func (c *Config) hostSource(facts *codehost.Repository) (ingest.Source, error) {
	u, err := parseURL(facts.CloneURL)
	if err != nil {
		return ingest.Source{}, err
	}
	u.User = nil
	src, err := namedSource(u, c.account.Name(c.URL.Hostname(), facts.Path))
	src.Hidden = c.account.TakesReaders && facts.Private
	return src, err
}

// listed is the answer of a service.
type listed struct {
	Items []struct{ Name, URI, ClonePath string }
}

// ask asks the service.
func (c *Config) ask(ctx context.Context, guard Guard) (out Listing, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	answer, err := c.get(ctx, guard)
	if err != nil {
		return out, unanswered(c.URL, err)
	}
	for _, item := range answer.Items {
		name := strings.Trim(cmp.Or(item.Name, item.URI), "/")
		src, err := c.source(item.ClonePath, name)
		if err != nil {
			out.Left = append(out.Left, err.Error())
			continue
		}
		out.Repositories = append(out.Repositories, Listed{Source: src})
	}
	return out, nil
}

func (c *Config) get(ctx context.Context, guard Guard) (*listed, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL.JoinPath("v1/list-repos").String(), nil)
	if err != nil {
		return nil, errors.New("its address does not parse")
	}
	if parent := span.Parent(ctx); parent != "" {
		req.Header.Set("traceparent", parent)
	}
	transport := &http.Transport{DialContext: guard.Dial, DisableKeepAlives: true, ResponseHeaderTimeout: listTimeout}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("too many redirects")
		}
		_, err := parseURL(req.URL.String())
		return err
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s", resp.Status)
	}
	var out listed
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxListBytes)).Decode(&out); err != nil {
		return nil, errors.New("it answered with something other than a list of repositories")
	}
	if len(out.Items) > maxRepositories {
		return nil, fmt.Errorf("it has more than %d repositories", maxRepositories)
	}
	return &out, nil
}

// unanswered tells why a host could not be asked at an address.
func unanswered(u *url.URL, err error) error {
	if errors.Is(err, ErrAddress) {
		return fmt.Errorf("ask %s: %w; allow-local-sources of the server allows it", redact.URL(u.String()), err)
	}
	return fmt.Errorf("ask %s: %w", redact.URL(u.String()), err)
}
