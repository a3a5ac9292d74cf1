package bench

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ClusterSizes are what nodes, the database and the objects took at the end.
type ClusterSizes struct {
	// Memory is the most that a node had resident, of all.
	Memory int64 `json:"memory"`
	// Connections are those to the database, of all nodes.
	Connections int `json:"connections"`
	// Repository is how many bytes of keys and values a repository had when all were
	// indexed and nothing else had happened.
	Repository int64 `json:"repository"`
	// Records are the bytes of small records with their index, in so many rows; Log those
	// of the log. Database is all of it, with what PostgreSQL has for itself.
	Records  int64 `json:"records"`
	Rows     int64 `json:"rows"`
	Log      int64 `json:"log"`
	Database int64 `json:"database"`
	// Written is how much the database has written ahead for each of so many Changes
	// behind one another, which took one transaction each.
	Written int64         `json:"written"`
	Changes int           `json:"changes"`
	Took    time.Duration `json:"tookNanos"`
	// Objects are the bytes of the bucket, Index those of the data directory of a node.
	Objects int64 `json:"objects"`
	Index   int64 `json:"index"`
	// New is how long a node with an empty directory took until it was ready.
	New time.Duration `json:"newNanos"`
}

// measureSizes measures what the cluster takes, and has one more node join.
func (r *clusterRun) measureSizes(ctx context.Context) error {
	r.Note("measuring sizes")
	s := &ClusterSizes{Changes: r.Changes, Repository: r.perRepository}
	before, err := r.database.number(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`)
	if err != nil {
		return err
	}
	start := time.Now()
	for i := range r.Changes {
		name := r.fleet.repository(i % r.Repositories).name
		stars := r.history.askStars(name)
		if stars == 0 {
			s.Changes--
			continue
		}
		if err := r.nodes[0].setStars(ctx, name, stars); err != nil {
			return err
		}
		r.history.starred(name, nil, false)
	}
	s.Took = time.Since(start) / time.Duration(max(1, s.Changes))
	for _, one := range []struct {
		value *int64
		query string
	}{
		{&s.Written, `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`},
		{&s.Records, `SELECT pg_total_relation_size('trawl.record')`},
		{&s.Rows, `SELECT count(*) FROM trawl.record`},
		{&s.Log, `SELECT pg_total_relation_size('trawl.log')`},
		{&s.Database, `SELECT pg_database_size(current_database())`},
	} {
		if *one.value, err = r.database.number(ctx, one.query); err != nil {
			return err
		}
	}
	s.Written = (s.Written - before) / int64(max(1, s.Changes))
	connections, err := r.database.number(ctx, `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
	if err != nil {
		return err
	}
	s.Connections = int(connections)
	for _, n := range r.nodes {
		s.Memory = max(s.Memory, n.process.memory().own)
	}
	if s.Objects, err = r.objects.bytes(); err != nil {
		return err
	}
	r.report.Sizes = s
	return r.join(ctx, s)
}

// join has one more node fill itself, and compares it with what was acknowledged.
func (r *clusterRun) join(ctx context.Context, s *ClusterSizes) error {
	n, err := r.newNode(len(r.nodes) + 1)
	if err != nil {
		return err
	}
	r.nodes = append(r.nodes, n)
	if err := r.start(ctx, n); err != nil {
		return err
	}
	s.New = n.process.ready
	if s.Index, err = treeBytes(n.dir); err != nil {
		return err
	}
	return r.judge(ctx, "a new node")
}

// number runs a query for one number.
func (d *clusterDatabase) number(ctx context.Context, query string) (int64, error) {
	text, err := d.query(ctx, query)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
}

func (s *ClusterSizes) write(w io.Writer) {
	fmt.Fprintf(w, "node          %s resident at most; %d connections to the database of all nodes\n", showBytes(s.Memory), s.Connections)
	fmt.Fprintf(w, "database      %s; %d records %s, log %s; %s a repository when filled\n",
		showBytes(s.Database), s.Rows, showBytes(s.Records), showBytes(s.Log), showBytes(s.Repository))
	fmt.Fprintf(w, "a change      %s, %s written ahead, of %d behind one another\n", showDuration(s.Took), showBytes(s.Written), s.Changes)
	fmt.Fprintf(w, "objects       %s; a new node is ready after %s, with %s\n", showBytes(s.Objects), showDuration(s.New), showBytes(s.Index))
}
