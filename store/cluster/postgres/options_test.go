package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/postgrestest"
	"github.com/trawlsearch/trawl/internal/tcpproxy"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
)

func TestErrorsShowNoPassword(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, address := range []string{
		"postgres://me:hunter2@127.0.0.1:1/trawl",
		"postgres://me:hunter2@127.0.0.1:port/trawl",
		"postgres://me:hunter2%zz@127.0.0.1/trawl",
		"postgres://me:hun ter2@127.0.0.1/trawl",
		"postgres://me:5432/hunter2@127.0.0.1/trawl",
		"postgres://me:hunter2@127.0.0.1/trawl?sslmode=hunter2",
		"postgres://me@127.0.0.1/trawl?password=hunter2&sslmode=hunter2",
		"postgres://me:hunter2@127.0.0.1/trawl?connect_timeout=hunter2",
		"postgres://me:hunter2@127.0.0.1/trawl?pool_max_conns=hunter2",
		"postgres://me:hunter2@127.0.0.1/trawl?sslmode=verify-full&sslrootcert=" + missing,
		"host=127.0.0.1 user=me password=hunter2",
		"mysql://me:hunter2@127.0.0.1/trawl",
		"me:hunter2@127.0.0.1/trawl",
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{Address: address, Reads: formats, Patience: 10 * time.Millisecond})
		if err == nil {
			t.Errorf("%s: opened", address)
			continue
		}
		for _, secret := range []string{"hunter2", "hun", "ter2"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %q shows the password", address, err)
				break
			}
		}
	}
}

// passwordServer returns where a user logs in with a password, and has it changed.
func passwordServer(t *testing.T) (address string, change func(password string)) {
	t.Helper()
	s := template.Start(t)
	admin := open(t, s.Address())
	if err := admin.Exec(t.Context(), `CREATE ROLE `+postgrestest.WithPassword+` LOGIN SUPERUSER`); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(s.Address(), "postgres@", postgrestest.WithPassword+"@", 1), func(password string) {
		if err := admin.Exec(t.Context(), `ALTER ROLE `+postgrestest.WithPassword+` PASSWORD '`+password+`'`); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPasswords(t *testing.T) {
	address, change := passwordServer(t)
	change("hunter2")
	o := postgres.Options{Address: address, Reads: formats, Patience: time.Second}
	try := func(how string, want bool) {
		t.Helper()
		o := o
		if want { // only what has to fail is given up soon
			o.Patience = patience
		}
		c, err := postgres.Open(t.Context(), o)
		if (err == nil) != want || err != nil && strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", how, err)
		}
		if err == nil {
			c.Close()
		}
	}
	try("no password", false)
	o.Address = strings.Replace(address, "@", ":hunter3@", 1)
	try("a wrong password", false)
	o.Address = strings.Replace(address, "@", ":hunter2@", 1)
	try("the password in the address", true)
	o.Address = address

	t.Setenv("PGPASSWORD", "hunter2")
	try("PGPASSWORD", true)
	t.Setenv("PGPASSWORD", "")

	passfile := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(passfile, []byte("*:*:*:*:hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSFILE", passfile)
	try("PGPASSFILE", true)
	t.Setenv("PGPASSFILE", "")

	file := filepath.Join(t.TempDir(), "password")
	o.PasswordFile = file
	try("a file that is missing", false)
	write := func(password string) {
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("hunter2")
	c := open(t, address, func(opts *postgres.Options) { opts.PasswordFile = file })
	change("hunter4")
	write("hunter4")
	c.DropConnections()
	if _, err := c.Log.Head(t.Context()); err != nil {
		t.Errorf("the password was changed: %v", err)
	}
}

// A server that takes no writes is a standby, which may be behind.
func TestStandbyIsRefused(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	if err := open(t, s.Address()).Exec(t.Context(), `ALTER DATABASE postgres SET default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 5 { // a server that got no turn has not answered
		_, err = postgres.Open(t.Context(), postgres.Options{Address: s.Address(), Reads: formats, Patience: time.Second})
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "read only") {
		t.Errorf("got %v, want that the connection is read only", err)
	}
}

// through puts a proxy before a server and returns the address that leads through it.
func through(t testing.TB, s *postgrestest.Server) (*tcpproxy.Proxy, string) {
	p := tcpproxy.New(t, "unix", s.Socket())
	return p, "postgres://postgres@" + p.Address() + "/postgres?sslmode=disable"
}

// calls are all calls that ask the database.
var calls = map[string]func(context.Context, *postgres.Cluster) error{
	"Append": func(ctx context.Context, c *postgres.Cluster) error {
		return c.Log.Append(ctx, 0, newID(), []cluster.Write{set("a", "1")})
	},
	"Head": func(ctx context.Context, c *postgres.Cluster) error { _, err := c.Log.Head(ctx); return err },
	"Tail": func(ctx context.Context, c *postgres.Cluster) error { _, err := c.Log.Tail(ctx, 0, 1); return err },
	"Records": func(ctx context.Context, c *postgres.Cluster) error {
		_, err := c.Log.Records(ctx, func([]byte, []byte) error { return nil })
		return err
	},
	"Reserve": func(ctx context.Context, c *postgres.Cluster) error { _, err := c.Log.Reserve(ctx, 1); return err },
	"Cut":     func(ctx context.Context, c *postgres.Cluster) error { return c.Log.Cut(ctx) },
	"Join": func(ctx context.Context, c *postgres.Cluster) error {
		return c.Nodes.Join(ctx, cluster.Node{Reads: formats})
	},
	"Beat":   func(ctx context.Context, c *postgres.Cluster) error { return c.Nodes.Beat(ctx, cluster.Node{}) },
	"Leave":  func(ctx context.Context, c *postgres.Cluster) error { return c.Nodes.Leave(ctx, "a") },
	"Nodes":  func(ctx context.Context, c *postgres.Cluster) error { _, err := c.Nodes.Nodes(ctx); return err },
	"Format": func(ctx context.Context, c *postgres.Cluster) error { _, err := c.Nodes.Format(ctx); return err },
	"Raise":  func(ctx context.Context, c *postgres.Cluster) error { _, err := c.Nodes.Raise(ctx, 2); return err },
	"Acquire": func(ctx context.Context, c *postgres.Cluster) error {
		_, _, err := c.Leases.Acquire(ctx, "a", "a", time.Hour)
		return err
	},
	"Renew": func(ctx context.Context, c *postgres.Cluster) error {
		_, err := c.Leases.Renew(ctx, "a", time.Hour, "a")
		return err
	},
	"Release": func(ctx context.Context, c *postgres.Cluster) error {
		return c.Leases.Release(ctx, cluster.Lease{Name: "a", Node: "a"})
	},
	"Leases": func(ctx context.Context, c *postgres.Cluster) error { _, err := c.Leases.Leases(ctx); return err },
}

// No call hangs while the database does not answer, with connections or without, and
// each works again once it does.
func TestCallsEndWithoutADatabase(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	p, address := through(t, s)
	for name, trouble := range map[string]struct{ begin, end func() }{
		"paused":  {s.Pause, s.Resume},
		"stalled": {func() { p.Stall(true) }, func() { p.Stall(false) }},
		"refused": {func() { p.Refuse(true); p.Cut() }, func() { p.Refuse(false) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, address)
			c.SetPatience(40 * time.Millisecond)
			trouble.begin()
			ended := make(chan string)
			for call, f := range calls {
				go func() {
					if f(t.Context(), c) == nil {
						call += " succeeded"
					}
					ended <- call
				}()
			}
			timeout := time.After(patience)
			for range calls {
				select {
				case call := <-ended:
					if strings.Contains(call, " ") {
						t.Error(call)
					}
				case <-timeout:
					t.Fatal("calls hang")
				}
			}
			if err := c.Log.Wait(t.Context(), 0); err != nil {
				t.Error(err)
			}
			trouble.end()
			c.SetPatience(patience)
			if _, err := c.Log.Head(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// Close does not wait for a database that does not answer.
func TestCloseWithoutADatabase(t *testing.T) {
	t.Parallel()
	s := template.Start(t)
	c, err := postgres.Open(t.Context(), postgres.Options{Address: s.Address(), Reads: formats})
	if err != nil {
		t.Fatal(err)
	}
	s.Pause()
	c.SetPatience(20 * time.Millisecond)
	if _, err := c.Log.Head(t.Context()); err == nil {
		t.Error("a paused server answers")
	}
	c.Close()
	s.Resume()
	if _, err := c.Log.Head(t.Context()); err == nil {
		t.Error("a closed cluster answers")
	}
}

// An address names the parameters of libpq; what it leaves out is ours.
func TestSessionSettings(t *testing.T) {
	address := template.Start(t).Address()
	admin := open(t, address)
	for _, tt := range []struct{ database, parameters, setting, want string }{
		{"", "", "application_name", "trawl"},
		{"", "&application_name=mine", "application_name", "mine"},
		// What is acknowledged is on disk, here or at the standby too, as the operator likes.
		{"synchronous_commit = off", "", "synchronous_commit", "on"},
		{"synchronous_commit = local", "", "synchronous_commit", "local"},
	} {
		if setting, value, ok := strings.Cut(tt.database, " = "); ok {
			if err := admin.Exec(t.Context(), fmt.Sprintf(`ALTER DATABASE postgres SET %s = %s`, setting, value)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := open(t, address+tt.parameters).Setting(t.Context(), tt.setting); err != nil || got != tt.want {
			t.Errorf("%s with %q and %s: %q, %v, want %q", tt.setting, tt.parameters, tt.database, got, err, tt.want)
		}
	}
}
