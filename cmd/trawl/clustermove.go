package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster"
)

const clusterImportHelp = `Usage: trawl cluster import [flags]

Import makes a cluster of the data directory of one machine: its shards are
stored where nodes share them, and all else, users, tokens, settings and search
jobs among it, goes into the database, which has to be empty. Stop the server
first. The directory stays as it is, and is no node's: give nodes new ones, which
they fill by themselves. Git mirrors are not moved; nodes fetch them.

No node starts before the import is complete. An interrupted import is repeated:
it sends what is missing, and takes over what has changed in the directory. A
damaged shard is left out, and indexed again by the nodes.

  trawl cluster import --data /var/lib/trawl --authority postgres://trawl@db/trawl --objects s3://bucket/trawl`

const clusterExportHelp = `Usage: trawl cluster export [flags]

Export makes a data directory that is a store of one machine again. With
--authority and --objects the directory is filled from the cluster first, or
brought to its last version; it may be new. Without them it is the directory of a
node, or one that was restored from a backup of a node, and keeps the version
that it has. No server may have it open. The cluster goes on as it was, and what
changes there later is not in the directory. A node needs another one from then on.

An interrupted export is repeated.

  trawl cluster export --data /srv/copy --authority postgres://trawl@db/trawl --objects s3://bucket/trawl
  trawl cluster export --data /srv/restored`

// clusterMoved is what import or export did, as JSON.
type clusterMoved struct {
	Data    string `json:"data"`
	Version uint64 `json:"version"`
	// Already says that there was nothing to do.
	Already bool `json:"already,omitempty"`
	// Shards, SentBytes and Damaged are those of an import.
	Shards     int      `json:"shards,omitempty"`
	SentBytes  int64    `json:"sentBytes,omitempty"`
	Damaged    []uint32 `json:"damaged,omitempty"`
	TookMillis int64    `json:"tookMillis"`
	// note is the rest of it for people.
	note string
}

func (a clusterCommands) importing() *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "make a cluster of a data directory", Long: clusterImportHelp, Args: arguments(0, 0, "no argument")}
	return a.move(cmd, func(ctx context.Context, set config.Settings, out output, task *progress.Task) (clusterMoved, error) {
		res, err := service.ImportCluster(ctx, set, out.log, task.Report)
		m := clusterMoved{Version: uint64(res.Version), Already: res.Already, Shards: res.Shards, SentBytes: res.Bytes, Damaged: res.Damaged}
		m.note = fmt.Sprintf("%s, %s sent", progress.Counted(res.Shards, "shard"), progress.Size(res.Bytes))
		if n := len(res.Damaged); n > 0 {
			m.note += fmt.Sprintf(", %s left out, to be indexed again", progress.Counted(n, "damaged shard"))
		}
		if res.Already {
			m.note = "the cluster has all of it already"
		}
		return m, hintImport(err)
	})
}

func (a clusterCommands) export() *cobra.Command {
	cmd := &cobra.Command{Use: "export", Short: "make a data directory of a cluster", Long: clusterExportHelp, Args: arguments(0, 0, "no argument")}
	return a.move(cmd, func(ctx context.Context, set config.Settings, out output, _ *progress.Task) (clusterMoved, error) {
		if err := leadsSomewhere(set.Data); err != nil {
			return clusterMoved{}, err
		}
		v, err := service.ExportCluster(ctx, set, out.log)
		m := clusterMoved{Version: uint64(v), Already: v == 0, note: fmt.Sprintf("version %d of the cluster is a store of one machine", v)}
		if m.Already {
			m.note = "it is a store of one machine already"
		}
		return m, err
	})
}

// clusterMove gives a command that moves a data directory its flags and output.
func (a clusterCommands) move(cmd *cobra.Command, move func(context.Context, config.Settings, output, *progress.Task) (clusterMoved, error)) *cobra.Command {
	settings := settingFlags(cmd, "data", "memory", "authority", "authority-password-file", "objects", "log-level", "log-format")
	asJSON := cmd.Flags().Bool("json", false, "print what was done as one line of JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := settings()
		if err != nil {
			return err
		}
		service.LimitMemory(int64(set.Memory))
		out := a.taskOutput(set)
		task, begun := out.display.Start(cmd.Name()), time.Now()
		m, err := move(cmd.Context(), set, out, task)
		if errors.Is(err, store.ErrLocked) {
			err = stopFirst(set.Data)
		}
		if err != nil {
			task.Fail(err)
			return err
		}
		took := time.Since(begun)
		task.Done(progress.Summary{Note: m.note, Took: took})
		if m.Data, m.TookMillis = set.Data, took.Milliseconds(); *asJSON {
			return a.printJSON(m)
		}
		return nil
	}
	return cmd
}

// stopFirst says who has the data directory.
func stopFirst(data string) error {
	if f, err := serverfile.Read(data); err == nil {
		return fmt.Errorf("data directory %s is served, by process %d: stop it first", data, f.PID)
	}
	return lockedError(data)
}

// hintImport says what to do about what a person can mend.
func hintImport(err error) error {
	switch {
	case errors.Is(err, cluster.ErrBeaten):
		return fmt.Errorf("%w: another import goes into this database; end one of them", err)
	case errors.Is(err, cluster.ErrUnknown):
		return fmt.Errorf("%w: repeat the import once the database answers", err)
	}
	return err
}
