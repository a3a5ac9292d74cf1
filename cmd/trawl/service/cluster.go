package service

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/backups"
	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/node"
)

// openNode connects with the cluster of the settings; it is nil for a store of one
// machine.
func openNode(ctx context.Context, set config.Settings, log zerolog.Logger) (*node.Node, error) {
	if set.Authority == "" {
		return nil, nil
	}
	objects, err := backups.OpenDestination(set.Objects)
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	return node.Open(ctx, set.Cluster, objects, log)
}

// program names this program, for other nodes and in backups.
func program() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return "trawl " + info.Main.Version
	}
	return "trawl"
}

// Join has other nodes know of this one, and gives it its share of their work. Until
// then, and in a store of one machine, it does all.
func (s *Service) Join(ctx context.Context) error {
	return s.node.Join(ctx, s.describe, s.gained)
}

// describe tells other nodes about this one.
func (s *Service) describe() node.Description {
	d := node.Description{Address: s.opts.Address, Applied: uint64(s.store.Version()), Facts: node.Facts{PID: os.Getpid(), Version: program(), Data: s.Dir()}}
	d.Facts.Host, _ = os.Hostname() // it is for people
	m := s.store.Metrics()
	d.Facts.Bytes, d.Facts.Shards = m.DiskBytes, m.Shards
	if disk, err := s.store.Disk(); err == nil {
		d.Facts.FreeBytes = disk.FreeBytes
	}
	return d
}

// gained looks for work of what has fallen to this node.
func (s *Service) gained() {
	s.upkeep.mergeDue.set()
	s.upkeep.synced()
	s.jobs.Wake()
	s.monitors.Wake()
	s.repositories.asked.gained()
}
