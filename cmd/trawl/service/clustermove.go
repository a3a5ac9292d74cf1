package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/ingest"
)

// PhaseImport is that of the progress of ImportCluster.
const PhaseImport = "import"

// errNoAuthority says what an import lacks.
var errNoAuthority = errors.New("there is no cluster to import into: name its database and objects, with --authority and --objects")

// ImportCluster makes the cluster of the settings, which has no records yet, of their
// data directory, which nothing has open.
func ImportCluster(ctx context.Context, set config.Settings, log zerolog.Logger, report func(ingest.Progress)) (out store.Imported, err error) {
	if set.Authority == "" {
		return out, errNoAuthority
	}
	// It is looked at before the database is, whose tables would be made.
	if v, err := store.Format(disk.OS(), set.Data); err != nil {
		return out, err
	} else if v == 0 {
		return out, noStore(set.Data)
	}
	node, err := openNode(ctx, set, log)
	if err != nil {
		return out, err
	}
	defer node.Close()
	target := node.Target(func(done, total int64) {
		report(ingest.Progress{Phase: PhaseImport, Done: int(done), Total: int(total)})
	})
	out, err = store.Import(ctx, set.Data, moveOptions(set, log), target)
	return out, notOwned(err)
}

func noStore(data string) error { return fmt.Errorf("%s holds no store: give another --data", data) }

// ExportCluster makes the data directory of the settings a store of one machine: that of
// a node, or a new one. Where the settings name a cluster it has the cluster's last
// version, and otherwise that of the directory. Version is 0 if it is a store of its own
// already.
func ExportCluster(ctx context.Context, set config.Settings, log zerolog.Logger) (store.Version, error) {
	o := moveOptions(set, log)
	v, err := store.Format(disk.OS(), set.Data)
	switch {
	case err != nil:
		return 0, err
	case set.Authority != "":
		err = fillFromCluster(ctx, set, o, log)
	case v == 0:
		err = fmt.Errorf("%w, or name the cluster's database and objects, with --authority and --objects", noStore(set.Data))
	}
	if err != nil {
		return 0, err
	}
	at, err := store.Detach(set.Data, o)
	return at, notOwned(err)
}

// fillFromCluster brings a directory to the last version of a cluster.
func fillFromCluster(ctx context.Context, set config.Settings, o store.Options, log zerolog.Logger) error {
	node, err := openNode(ctx, set, log)
	if err != nil {
		return err
	}
	defer node.Close()
	node.Share(&o)
	st, err := store.Open(set.Data, o)
	if err != nil {
		return notOwned(err)
	}
	return st.Close()
}

// moveOptions are the options of a store that is moved and not searched.
func moveOptions(set config.Settings, log zerolog.Logger) store.Options {
	memory := divide(int64(set.Memory))
	return store.Options{CacheBytes: memory.caches, ListBytes: memory.lists, LargeBytes: memory.large, Event: storeEvent(log)}
}
