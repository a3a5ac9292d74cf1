package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/internal/tcpproxy"
)

// clusterNode is a trawl serve with a data directory of its own, which reaches the
// database and the objects through networks of its own. It has the same address after
// each start.
type clusterNode struct {
	number int
	dir    string
	listen string
	// reserved holds the address until the first start.
	reserved net.Listener
	// database and objects are its networks.
	database, objects *tcpproxy.Proxy
	// process is the server that runs, or ran last.
	process *process
	*operatorClient
}

func (n *clusterNode) String() string { return fmt.Sprintf("node %d", n.number) }

// newNode makes a node that is not started yet.
func (r *clusterRun) newNode(number int) (*clusterNode, error) {
	reserved, err := tcpproxy.Reserve() // which a server that was killed gets again
	if err != nil {
		return nil, err
	}
	n := &clusterNode{number: number, dir: filepath.Join(r.Work, fmt.Sprintf("node-%d", number)), listen: reserved.Addr().String(), reserved: reserved}
	n.operatorClient = &operatorClient{client: newClient(), base: "http://" + n.listen}
	if n.database, err = tcpproxy.Listen(r.database.network, r.database.server); err != nil {
		return nil, errors.Join(err, reserved.Close())
	}
	if n.objects, err = tcpproxy.Listen("tcp", r.objects.address()); err != nil {
		return nil, errors.Join(err, reserved.Close(), n.database.Close())
	}
	return n, nil
}

// start starts the server and returns once it is ready, which it is when it has all
// that the database has.
func (r *clusterRun) start(ctx context.Context, n *clusterNode) error {
	cmd := exec.Command(r.Trawl, "serve", "--data", n.dir, "--listen", n.listen, "--authority", r.database.through(n.database.Address()), "--objects", objectsPrefix,
		"--authority-grace", r.Grace.String(), "--sync-interval", "24h", "--access-tokens-per-user", "1000000", "--min-free-bytes", "0", "--log-level", "error")
	cmd.Dir = r.Work // which is no repository
	cmd.Env = append(cleanEnv(), "TRAWL_MEMORY="+r.Memory, "TRAWL_SYMBOLS=false", "TRAWL_HISTORY_MESSAGES=0",
		"AWS_ENDPOINT_URL=http://"+n.objects.Address(), "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=nodes", "AWS_SECRET_ACCESS_KEY=unchecked")
	if n.reserved != nil {
		if err := n.reserved.Close(); err != nil {
			return err
		}
		n.reserved = nil
	}
	var err error
	n.process, err = startProcess(ctx, n.String(), cmd, func(ctx context.Context) bool {
		return answersOK(ctx, &n.client, n.base+"/readyz")
	})
	if err != nil {
		return err
	}
	n.operator, err = operatorOf(n.dir)
	return err
}

// stop ends the server and its connections.
func (n *clusterNode) stop() error {
	n.client.CloseIdleConnections()
	var err error
	if n.process != nil && !n.process.ended() {
		err = n.process.stop()
	}
	return errors.Join(err, n.database.Close(), n.objects.Close())
}

func (n *clusterNode) asker(token string) *asker {
	return &asker{client: n.client, base: n.base, token: token}
}

// clusterStatus is the part of a status that is judged.
type clusterStatus struct {
	Applied uint64 `json:"applied"`
	Head    uint64 `json:"head"`
	Error   string `json:"error"`
	Nodes   []struct {
		Address string   `json:"address"`
		Live    bool     `json:"live"`
		Parts   int      `json:"parts"`
		Tasks   []string `json:"tasks"`
	} `json:"nodes"`
}

func (n *clusterNode) status(ctx context.Context) (clusterStatus, error) {
	var s struct {
		Cluster *clusterStatus `json:"cluster"`
	}
	err := n.call(ctx, http.MethodGet, "status", nil, nil, &s)
	if err == nil && s.Cluster == nil {
		err = fmt.Errorf("%s is not one of a cluster", n)
	}
	if err != nil {
		return clusterStatus{}, err
	}
	return *s.Cluster, nil
}

// The work of a cluster: so many parts, and tasks that one node does for all.
const (
	clusterParts = 64
	clusterTasks = 3
)

// divided reports whether the work is that of so many live nodes.
func (s clusterStatus) divided(nodes int) bool {
	live, parts, tasks := 0, 0, 0
	for _, n := range s.Nodes {
		if n.Live {
			live++
			parts += n.Parts
			tasks += len(n.Tasks)
		}
	}
	return s.Error == "" && live == nodes && parts == clusterParts && tasks == clusterTasks
}

// knownRepository is what a node tells of a repository.
type knownRepository struct {
	Name    string `json:"name"`
	Stars   int    `json:"stars"`
	Indexed bool   `json:"indexed"`
	Error   string `json:"error"`
}

func (n *clusterNode) repositories(ctx context.Context, name string) (all []knownRepository, err error) {
	parameters := url.Values{}
	if name != "" {
		parameters.Set("name", name)
	}
	err = n.call(ctx, http.MethodGet, "repositories", parameters, nil, &all)
	return all, err
}

// setStars changes a small record.
func (n *clusterNode) setStars(ctx context.Context, name string, stars int) error {
	return n.call(ctx, http.MethodPatch, "repositories", url.Values{"name": {name}}, map[string]int{"stars": stars}, nil)
}

func (n *clusterNode) sync(ctx context.Context, name string) error {
	return n.call(ctx, http.MethodPost, "repositories/sync", url.Values{"name": {name}}, nil, &lastLine{})
}

func (n *clusterNode) createUser(ctx context.Context, name string, admin bool) error {
	return n.call(ctx, http.MethodPost, "users", nil, map[string]any{"name": name, "siteAdmin": admin}, nil)
}

func (n *clusterNode) createToken(ctx context.Context) (*accessToken, error) {
	t := &accessToken{}
	return t, n.call(ctx, http.MethodPost, "tokens", nil, map[string]any{"user": keeper, "scopes": []string{"user:all"}, "forever": false}, t)
}

func (n *clusterNode) revoke(ctx context.Context, t *accessToken) error {
	return n.call(ctx, http.MethodDelete, "tokens", url.Values{"id": {fmt.Sprint(t.ID)}}, nil, nil)
}

// takes reports whether the node takes a token. A node that cannot tell refuses it.
func (n *clusterNode) takes(ctx context.Context, t *accessToken) (bool, error) {
	ok, err := n.allows(ctx, t.Secret)
	if unavailable(err) {
		return false, nil
	}
	return ok, err
}

// told asks again while a node cannot tell, which one without trouble cannot either when
// it had no processor for as long as it may go unconfirmed.
func told[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for start := time.Now(); ; {
		v, err := ask()
		if !unavailable(err) || time.Since(start) > goodWithin || !pause(ctx, syncAgain) {
			return v, err
		}
	}
}

// finds reports whether a search of a node finds a word. A node that cannot tell does
// not.
func (n *clusterNode) finds(ctx context.Context, token, word string) (bool, error) {
	a, err := n.asker(token).search(ctx, word, "keyword", nil)
	return a.Results > 0, ignoreUnavailable(err)
}
