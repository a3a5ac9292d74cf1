package hosts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/store/redact"
)

const (
	// maxURLsBytes is how long a list of addresses may be, maxLineBytes each of them.
	maxURLsBytes = 4 << 20
	maxLineBytes = 2000
	// maxBadLines is how many lines are named that cannot be taken.
	maxBadLines = 20
)

// listFile lists what a file names.
func (c *Config) listFile() (Listing, error) {
	f, err := os.Open(c.ReposFile)
	if err != nil {
		return Listing{}, fmt.Errorf("reposFile: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Listing{}, fmt.Errorf("reposFile: %s is no file", c.ReposFile)
	}
	out, err := c.readURLs(f)
	if err != nil {
		return out, fmt.Errorf("reposFile: %s: %w", c.ReposFile, err)
	}
	return out, nil
}

// listURLs lists what the answer of an address names.
func (c *Config) listURLs(ctx context.Context, client *codehost.Client) (Listing, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ReposURL.String(), nil)
	if err != nil {
		return Listing{}, errors.New("reposURL: it does not parse")
	}
	req.Header.Set("Accept", "text/plain, */*;q=0.1")
	resp, err := client.HTTP().Do(req)
	if err != nil {
		return Listing{}, unanswered(c.ReposURL, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Listing{}, fmt.Errorf("ask %s: %w", redact.URL(c.ReposURL.String()), codehost.Answered(resp.StatusCode, ""))
	}
	out, err := c.readURLs(resp.Body)
	if err != nil {
		return out, fmt.Errorf("read %s: %w", redact.URL(c.ReposURL.String()), err)
	}
	return out, nil
}

// readURLs reads a list of addresses, or of paths below the URL of the service, one a
// line; what begins with # is a comment. A list that names nothing, or is too long, is an
// error. A line that cannot be taken is a part that failed: with it, the list may be one of
// something else, such as the page of a proxy, and hides nothing.
func (c *Config) readURLs(from io.Reader) (out Listing, err error) {
	limited := &io.LimitedReader{R: from, N: maxURLsBytes + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxLineBytes)
	seen := map[string]bool{}
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		one, err := c.listedURL(line)
		switch {
		case err != nil:
			if out.Failed = append(out.Failed, fmt.Sprintf("line %d: %v", number, err)); len(out.Failed) == maxBadLines {
				return out, fmt.Errorf("it is no list of addresses: %s", out.Failed[0])
			}
		case !seen[one.Facts.ID]:
			seen[one.Facts.ID] = true
			out.Repositories = append(out.Repositories, one)
		}
		if len(out.Repositories) > maxRepositories {
			return out, codehost.ErrTooMany
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return out, fmt.Errorf("a line is longer than %d bytes", maxLineBytes)
	case err != nil:
		return out, err
	case limited.N <= 0:
		return out, fmt.Errorf("it is longer than %d MiB", maxURLsBytes>>20)
	case len(out.Repositories) == 0 && len(out.Failed) > 0:
		return out, fmt.Errorf("it is no list of addresses: %s", out.Failed[0])
	case len(out.Repositories) == 0:
		return out, errors.New("it names no repository")
	}
	return out, nil
}

// listedURL is the repository of a line. What the list does not name any more vanishes as
// what a code host does not list: the address is what stays the same.
func (c *Config) listedURL(line string) (Listed, error) {
	if u, err := url.Parse(line); err == nil && u.User != nil {
		return Listed{}, errors.New("it holds a user name or password, which everyone who reads the list sees: write them into url")
	}
	src, err := c.source(line, "")
	if err != nil {
		return Listed{}, err
	}
	return Listed{src, &codehost.Repository{ID: src.Location, Path: src.Name, Bare: true}}, nil
}
