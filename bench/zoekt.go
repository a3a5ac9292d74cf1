package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// zoekt is asked through the JSON API of its web server, which holds its index
// open as trawl's does. The index is made from a copy of the repository,
// without symbols and otherwise with zoekt's own settings.
type zoekt struct{}

func (zoekt) name() string          { return "zoekt" }
func (zoekt) programs() []string    { return []string{"zoekt-git-index", "zoekt-webserver"} }
func (zoekt) decodesWide() bool     { return false }
func (zoekt) sees(Query) bool       { return true }
func (zoekt) cannot(q Query) string { _, cannot := zoektQuery(q); return cannot }

func (zoekt) version(ctx context.Context) string {
	return firstLine(exec.CommandContext(ctx, "zoekt-webserver", "-version"))
}

func (zoekt) reads(at workspace) []string { return []string{at.dir} }

func (zoekt) index(ctx context.Context, at workspace) (*IndexFacts, error) {
	repository := filepath.Join(at.dir+"-source", filepath.Base(at.source.clone))
	if err := at.source.copyTo(ctx, repository); err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(repository))
	return measureIndex(zoektIndexing(ctx, at.dir, "", repository), at.dir)
}

// zoektIndexing returns the command that adds a repository to the index in dir.
// The repository is called after its last element, or after its path below root
// if that is not "".
func zoektIndexing(ctx context.Context, dir, root, repository string) *exec.Cmd {
	args := []string{"-disable_ctags", "-index", dir}
	if root != "" {
		args = append(args, "-repo_cache", root)
	}
	cmd := exec.CommandContext(ctx, "zoekt-git-index", append(args, repository)...)
	cmd.Env = cleanEnv()
	return cmd
}

func (zoekt) start(ctx context.Context, at workspace) (engine, error) {
	e, err := startZoekt(ctx, at.dir)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// startZoekt serves the index in dir.
func startZoekt(ctx context.Context, dir string) (*zoektEngine, error) {
	addr, err := tcpproxy.FreeAddress()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("zoekt-webserver", "-rpc", "-html=false", "-index", dir, "-listen", addr)
	cmd.Env = cleanEnv()
	e := &zoektEngine{client: newClient(), base: "http://" + addr}
	e.process, err = startProcess(ctx, "zoekt-webserver", cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &e.client, e.base+"/readyz")
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// zoektEngine is a running zoekt-webserver.
type zoektEngine struct {
	*process
	client http.Client
	base   string
}

func (e *zoektEngine) server() *process { return e.process }

func (e *zoektEngine) stop() error {
	e.client.CloseIdleConnections()
	return e.process.stop()
}

// notIndexed is what zoekt keeps in place of the text of a file it skips.
const notIndexed = "NOT-INDEXED: "

func (e *zoektEngine) skipped(ctx context.Context) (map[string]bool, error) {
	q := Query{Name: "skipped", Text: "case:yes", Scope: Lines, Terms: []Term{{Text: "^" + notIndexed, IsRegexp: true}}}
	set, err := e.answer(ctx, q)
	skipped := map[string]bool{}
	for path := range set {
		skipped[path] = true
	}
	return skipped, err
}

// zoektReply is the part of an answer that is compared or makes it doubtful.
type zoektReply struct {
	Result struct {
		Crashes, FilesSkipped, ShardsSkipped int
		Files                                []struct {
			FileName    string
			LineMatches []struct {
				LineNumber uint32
				FileName   bool
			}
		}
	}
	Error string
}

func (e *zoektEngine) answer(ctx context.Context, q Query) (LineSet, error) {
	resp, err := e.post(ctx, q, 0)
	if err != nil {
		return nil, err
	}
	reply, err := readZoekt(q.Name, resp)
	if err != nil {
		return nil, err
	}
	if r := reply.Result; r.Crashes+r.FilesSkipped+r.ShardsSkipped > 0 {
		return nil, fmt.Errorf("zoekt: answer to %s is incomplete: %d crashes, %d files and %d shards skipped",
			q.Name, r.Crashes, r.FilesSkipped, r.ShardsSkipped)
	}
	set := LineSet{}
	for _, f := range reply.Result.Files {
		for _, l := range f.LineMatches {
			if q.Scope == Lines {
				set.Add(f.FileName, l.LineNumber)
			} else {
				set.Add(f.FileName, 0)
			}
		}
	}
	set.Sort()
	return set, nil
}

// readZoekt decodes and closes the answer to the search called name.
func readZoekt(name string, resp *http.Response) (zoektReply, error) {
	defer resp.Body.Close()
	var reply zoektReply
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return reply, fmt.Errorf("zoekt: decode answer to %s: %w", name, err)
	}
	return reply, nil
}

func (e *zoektEngine) ask(ctx context.Context, q Query, limit int) (PeerRun, error) {
	start := time.Now()
	resp, err := e.post(ctx, q, limit)
	if err != nil {
		return PeerRun{}, err
	}
	return skimZoekt(resp, start)
}

// skimZoekt reads an answer to a request of the time start, for its times.
func skimZoekt(resp *http.Response, start time.Time) (PeerRun, error) {
	defer resp.Body.Close()
	arrival := &firstByte{to: io.Discard, start: start}
	_, err := io.Copy(arrival, resp.Body)
	return PeerRun{First: arrival.after, Done: time.Since(start)}, err
}

// unlimited is more matches than any corpus has.
const unlimited = 1 << 30

// post sends q.
func (e *zoektEngine) post(ctx context.Context, q Query, limit int) (*http.Response, error) {
	text, cannot := zoektQuery(q)
	if cannot != "" {
		return nil, errors.New("zoekt: " + cannot)
	}
	return e.sendText(ctx, q.Name, text, limit)
}

// sendText posts a search, which errors call name. The limits are raised until
// an answer is complete, or set to the few lines that are wanted.
func (e *zoektEngine) sendText(ctx context.Context, name, text string, limit int) (*http.Response, error) {
	opts := map[string]any{"ShardMaxMatchCount": unlimited, "TotalMaxMatchCount": unlimited, "MaxWallTime": 10 * time.Minute}
	if limit > 0 {
		opts["ShardMaxMatchCount"], opts["TotalMaxMatchCount"], opts["MaxMatchDisplayCount"] = limit, limit, limit
	}
	body, err := json.Marshal(map[string]any{"Q": text, "Opts": opts})
	if err != nil {
		return nil, err
	}
	return e.send(ctx, name, body)
}

// send posts a search; name is what errors call it.
func (e *zoektEngine) send(ctx context.Context, name string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/api/search", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return nil, fmt.Errorf("zoekt: %s: %s: %s", name, resp.Status, bytes.TrimSpace(text))
	}
	return resp, nil
}
