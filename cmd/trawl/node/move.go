package node

import (
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/runs"
)

// Target returns what a data directory is imported to, which makes the cluster. report
// hears of how much text is stored.
func (n *Node) Target(report func(doneBytes, totalBytes int64)) store.ImportTarget {
	return store.ImportTarget{Log: n.db.Log, Runs: runs.New(n.objects), Report: report}
}
