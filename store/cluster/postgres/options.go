package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/redact"
)

// Options say which database is used, and how.
type Options struct {
	// Address is postgres://user@host:port/database?parameters, with the parameters of
	// libpq, such as sslmode and sslrootcert.
	Address string
	// PasswordFile holds the password, and is read for each connection. Without it the
	// password is that of the address, of PGPASSWORD or of PGPASSFILE.
	PasswordFile string
	// Reads are the formats of records that the program reads. The records of a new
	// store are of the newest.
	Reads cluster.Formats
	// Patience is how long a call goes on trying while the database is away, by default
	// 10 s. One attempt takes half as long at most, or three times as long where some
	// megabytes are moved.
	Patience time.Duration

	// isolation is that of statements. A row that one waited for is looked at again,
	// which is all that is needed, so it is by default the lowest.
	isolation string
	// silent is for databases without LISTEN.
	silent bool
}

const (
	defaultPatience = 10 * time.Second
	// connectTimeout is how long a connection may take to be made, unless the address
	// says otherwise.
	connectTimeout = 5 * time.Second
	// pingTimeout is how long a connection that was idle may take to show that it works.
	pingTimeout = 2 * time.Second
	// maxConns are the connections of a node, unless the address says otherwise. The
	// operator's limit is often 100 for all nodes.
	maxConns = 8
)

// poolConfig makes the settings of the pool. Its errors show no password.
func (o Options) poolConfig() (*pgxpool.Config, error) {
	shown := redact.URL(o.Address)
	scheme, _, _ := strings.Cut(o.Address, "://")
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, errors.New("address of a PostgreSQL database: want postgres://user@host/database")
	}
	u, err := url.Parse(o.Address)
	if err != nil || strings.Contains(u.Path, "@") { // what is behind a slash may be the rest of a password
		return nil, fmt.Errorf("address %s cannot be parsed: escape special characters of the password as %%XX, or put it into a file", shown)
	}
	config, err := pgxpool.ParseConfig(o.Address)
	if err != nil {
		return nil, fmt.Errorf("address %s: %s", shown, whyNotParsed(err, u))
	}
	asked := u.Query()
	if !asked.Has("connect_timeout") && os.Getenv("PGCONNECT_TIMEOUT") == "" {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !asked.Has("pool_max_conns") {
		config.MaxConns = maxConns
	}
	if !asked.Has("pool_ping_timeout") {
		config.PingTimeout = pingTimeout
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "trawl"
	}
	// A standby may be behind: what it says of the head proves nothing.
	config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	config.BeforeConnect = o.setPassword
	config.AfterConnect = o.prepareSession
	return config, nil
}

// whyNotParsed returns what is wrong with an address, without the address.
func whyNotParsed(err error, u *url.URL) string {
	var parse *pgconn.ParseConfigError
	if !errors.As(err, &parse) || parse.Unwrap() == nil {
		return "cannot be parsed"
	}
	why := redact.Text(parse.Unwrap().Error())
	password, _ := u.User.Password()
	for _, secret := range []string{password, u.Query().Get("password"), u.Query().Get("sslpassword")} {
		if secret != "" {
			why = strings.ReplaceAll(why, secret, redact.Word)
		}
	}
	return why
}

// setPassword reads the password, which may have changed since the last connection.
func (o Options) setPassword(_ context.Context, config *pgx.ConnConfig) error {
	if o.PasswordFile == "" {
		return nil
	}
	text, err := os.ReadFile(o.PasswordFile)
	if err != nil {
		return fmt.Errorf("password of the database: %w", err)
	}
	config.Password = strings.TrimRight(string(text), "\r\n")
	return nil
}

// sessionSettings keep a session whose node is gone from holding anything for long.
// Databases other than PostgreSQL lack some of them.
var sessionSettings = []string{
	"SET statement_timeout = '60s'",
	"SET idle_in_transaction_session_timeout = '60s'",
	"SET tcp_keepalives_idle = 10",
	"SET tcp_keepalives_interval = 5",
	"SET tcp_keepalives_count = 3",
	// What was acknowledged survives a crash, whatever the default of the database.
	"SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
}

func (o Options) prepareSession(ctx context.Context, conn *pgx.Conn) error {
	isolation := o.isolation
	if isolation == "" {
		isolation = "read committed"
	}
	for _, setting := range append(sessionSettings[:len(sessionSettings):len(sessionSettings)], "SET default_transaction_isolation = '"+isolation+"'") {
		_, err := conn.PgConn().Exec(ctx, setting).ReadAll()
		var refused *pgconn.PgError
		if err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return nil
}
