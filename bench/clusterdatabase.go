package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// clusterDatabase is the database of a cluster: a PostgreSQL server of ours, which is
// stopped and started, or one that is there.
type clusterDatabase struct {
	// address is where clients reach it, network and server what net.Dial is told.
	address         *url.URL
	network, server string
	// dir holds the files of a server of ours, "" for one that is there.
	dir      string
	postgres string
	process  *process
}

// postgresPort is that of addresses that name none, and of sockets.
const postgresPort = "5432"

// openDatabase starts a PostgreSQL server, or takes the one of an address.
func openDatabase(ctx context.Context, address string) (*clusterDatabase, error) {
	if address != "" {
		return thereDatabase(address)
	}
	d := &clusterDatabase{network: "unix", address: &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres"}}
	initdb, err := postgresProgram("initdb")
	if err == nil {
		d.postgres, err = postgresProgram("postgres")
	}
	if err != nil {
		return nil, err
	}
	// The path is short, since that of a socket has to be.
	if d.dir, err = os.MkdirTemp("", "trawlpg"); err != nil {
		return nil, err
	}
	d.server = filepath.Join(d.dir, ".s.PGSQL."+postgresPort)
	if err := errors.Join(ownForPostgres(d.dir), d.init(ctx, initdb), d.start(ctx)); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// thereDatabase is the database of an address.
func thereDatabase(address string) (*clusterDatabase, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("the authority is no address like postgres://user@host/database")
	}
	d := &clusterDatabase{address: u, network: "tcp", server: u.Host}
	if socket := u.Query().Get("host"); strings.HasPrefix(socket, "/") {
		d.network, d.server = "unix", filepath.Join(socket, ".s.PGSQL."+postgresPort)
	} else if u.Port() == "" {
		d.server = net.JoinHostPort(u.Hostname(), postgresPort)
	}
	return d, nil
}

// through returns the address of the database by way of a proxy.
func (d *clusterDatabase) through(proxy string) string {
	u := *d.address
	query := u.Query()
	query.Del("host")
	if d.network == "unix" {
		query.Set("sslmode", "disable")
	}
	u.Host, u.RawQuery = proxy, query.Encode()
	return u.String()
}

// postgresProgram finds a program of PostgreSQL, the newest where Debian has several.
func postgresProgram(name string) (string, error) {
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.Reverse(paths)
	for _, path := range append([]string{name}, paths...) {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w: install PostgreSQL, or give --authority", name, exec.ErrNotFound)
}

func (d *clusterDatabase) data() string { return filepath.Join(d.dir, "data") }

func (d *clusterDatabase) init(ctx context.Context, initdb string) error {
	cmd := exec.CommandContext(ctx, initdb, "--no-instructions", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D", d.data())
	if err := asPostgres(cmd); err != nil {
		return err
	}
	cmd.Dir = d.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// ours reports whether the server can be stopped.
func (d *clusterDatabase) ours() bool { return d.dir != "" }

// start starts our server and returns once it takes connections.
func (d *clusterDatabase) start(ctx context.Context) (err error) {
	cmd := exec.Command(d.postgres, "-D", d.data(), "-k", d.dir, "-c", "listen_addresses=")
	if err := asPostgres(cmd); err != nil {
		return err
	}
	cmd.Dir = d.dir
	d.process, err = startProcess(ctx, "postgres", cmd, func(context.Context) bool {
		text, _ := os.ReadFile(filepath.Join(d.data(), "postmaster.pid"))
		lines := strings.Split(string(text), "\n")
		return len(lines) > 7 && lines[0] == strconv.Itoa(cmd.Process.Pid) && strings.TrimSpace(lines[7]) == "ready"
	})
	return err
}

// stop ends our server: sessions are ended, and what they were doing is undone.
func (d *clusterDatabase) stop() error {
	p := d.process
	if p == nil {
		return nil
	}
	d.process = nil
	return p.stop()
}

// crash ends our server as a failure of its machine does: it writes nothing more, and
// recovers from its log when it starts.
func (d *clusterDatabase) crash() error {
	p := d.process
	d.process = nil
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	<-p.exited
	return nil
}

// query runs statements and returns what psql prints.
func (d *clusterDatabase) query(ctx context.Context, statements ...string) (string, error) {
	psql, err := postgresProgram("psql")
	if err != nil {
		return "", err
	}
	args := []string{"-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	address := d.address.String()
	if d.ours() {
		address += "?host=" + url.QueryEscape(d.dir)
	}
	out, err := exec.CommandContext(ctx, psql, append(args, address)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, bytes.TrimSpace(out))
	}
	return strings.TrimSpace(string(out)), nil
}

// close ends our server and removes its files.
func (d *clusterDatabase) close() error {
	if !d.ours() {
		return nil
	}
	return errors.Join(d.stop(), os.RemoveAll(d.dir))
}
