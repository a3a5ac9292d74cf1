package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// errRefused is an answer of a living server that it will not do what was
// asked, which nothing in this load gives it a reason for.
var errRefused = errors.New("refused")

// killClient changes a running server as its operator does.
type killClient struct {
	client http.Client
	base   string
	// operator is the secret that the server leaves in its data directory.
	operator string
}

// operatorOf reads the operator's secret.
func operatorOf(data string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(data, "server.json"))
	if err != nil {
		return "", err
	}
	var file struct {
		Token string `json:"token"`
	}
	err = json.Unmarshal(raw, &file)
	return file.Token, err
}

// call sends body, if it is not nil, and decodes the answer into out, if that
// is not nil. The error is errRefused if the server answered with one.
func (c *killClient) call(ctx context.Context, method, path string, parameters url.Values, body, out any) error {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/.api/trawl/"+path+"?"+parameters.Encode(), in)
	if err != nil {
		return err
	}
	req.Header.Set("X-Trawl-Admin-Token", c.operator)
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return fmt.Errorf("%s %s: %w: %s: %s", method, path, errRefused, resp.Status, bytes.TrimSpace(text))
	}
	if out == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	if line, ok := out.(*killLine); ok {
		return line.read(resp.Body)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// killLine is the last line of an answer of several.
type killLine struct {
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

func (l *killLine) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), l); err != nil {
			return err
		}
	}
	switch {
	case l.Error != "":
		return fmt.Errorf("%w: %s", errRefused, l.Error)
	case l.Result == nil:
		return errors.Join(io.ErrUnexpectedEOF, lines.Err())
	}
	return nil
}

// allows reports whether the server takes a token.
func (c *killClient) allows(ctx context.Context, token string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/.api/search/stream?q=nothinglikethis", nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Authorization", "token "+token)
	resp, err := c.client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return false, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return true, nil
	case http.StatusUnauthorized:
		return false, nil
	}
	return false, fmt.Errorf("a token is answered with %s", resp.Status)
}

// killFound are versions by name of the repository and the word before it.
type killFound map[[2]string][]int

// versions searches for every file of every version.
func (c *killClient) versions(ctx context.Context, token string) (killFound, error) {
	a := &asker{client: c.client, base: c.base, token: token}
	out := killFound{}
	answer, err := a.search(ctx, `/^kept(first|second) .*$/ count:all`, "standard", func(data []byte) error {
		var matches []struct {
			Repository   string `json:"repository"`
			ChunkMatches []struct {
				Content string `json:"content"`
			} `json:"chunkMatches"`
		}
		if err := json.Unmarshal(data, &matches); err != nil {
			return err
		}
		for _, m := range matches {
			for _, chunk := range m.ChunkMatches {
				for line := range strings.Lines(chunk.Content) {
					if err := out.add(m.Repository, line); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, why := range answer.Incomplete {
		if !strings.HasPrefix(why, "repository-cloning:") { // as those are that were just added
			return nil, fmt.Errorf("%w: the answer is incomplete: %s", errRefused, why)
		}
	}
	return out, nil
}

func (f killFound) add(repository, line string) error {
	var word, name string
	var version int
	if n, _ := fmt.Sscanf(line, "%s %s %d", &word, &name, &version); n != 3 || name != repository {
		return fmt.Errorf("%w: %s is found with the line %q", errRefused, repository, line)
	}
	f[[2]string{repository, word}] = append(f[[2]string{repository, word}], version)
	return nil
}
