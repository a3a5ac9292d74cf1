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
)

// errRefused is an answer of a living server that it will not do what was
// asked, which nothing that is measured gives it a reason for.
var errRefused = errors.New("refused")

// operatorClient changes a running server as its operator does.
type operatorClient struct {
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
func (c *operatorClient) call(ctx context.Context, method, path string, parameters url.Values, body, out any) error {
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
	if line, ok := out.(*lastLine); ok {
		return line.read(resp.Body)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// lastLine is the last line of an answer of several.
type lastLine struct {
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
	// Progress is that of the line read last.
	Progress struct {
		Phase string `json:"phase"`
	} `json:"progress"`
	// onPhase, if set, is called with the phase of each line of progress.
	onPhase func(phase string)
}

func (l *lastLine) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), l); err != nil {
			return err
		}
		if l.onPhase != nil && l.Progress.Phase != "" {
			l.onPhase(l.Progress.Phase)
			l.Progress.Phase = ""
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
func (c *operatorClient) allows(ctx context.Context, token string) (bool, error) {
	resp, err := (&asker{client: c.client, base: c.base, token: token}).get(ctx, c.base+"/.api/search/stream?q=nothinglikethis")
	var status *statusError
	switch {
	case errors.As(err, &status) && status.code == http.StatusUnauthorized:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("a token is answered: %w", err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil, err
}
