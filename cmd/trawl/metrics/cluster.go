package metrics

import (
	"time"

	"github.com/trawlsearch/trawl/httpapi/admin"
)

// ofCluster is a gauge of nodes that share a store. A store of one machine has none.
func ofCluster(name, help string, of func(c *admin.StatusCluster) float64) reading {
	return gaugeOf(name, help, func(s *status) float64 { return of(s.Cluster) })
}

// clusterReadings are those of a node of a cluster.
func clusterReadings() []reading {
	return []reading{
		ofCluster("trawl_cluster_database_up", "1 when the database of the cluster answers.", func(c *admin.StatusCluster) float64 { return truth(c.Error == "") }),
		ofCluster("trawl_cluster_confirmed_age_seconds", "Time since this node was last known to have the newest version of the records, or to lack nothing but documents.", func(c *admin.StatusCluster) float64 { return max(time.Since(c.Confirmed).Seconds(), 0) }),
		ofCluster("trawl_cluster_version", "The version of the records that this node has.", func(c *admin.StatusCluster) float64 { return float64(c.Applied) }),
		ofCluster("trawl_cluster_versions_behind", "Versions that this node has still to apply.", func(c *admin.StatusCluster) float64 { return float64(c.Behind(c.Applied)) }),
		ofCluster("trawl_cluster_nodes_live", "Nodes that were heard of lately, this one among them.", func(c *admin.StatusCluster) float64 { return float64(countNodes(c, true)) }),
		ofCluster("trawl_cluster_nodes_silent", "Nodes that were not, and have not left.", func(c *admin.StatusCluster) float64 { return float64(countNodes(c, false)) }),
		ofCluster("trawl_cluster_waiting", "1 while shards of the next version cannot be fetched, so that this node lacks the newest documents.", func(c *admin.StatusCluster) float64 { return truth(c.Waiting != "") }),
		ofCluster("trawl_cluster_shards_fetching", "Damaged shards of this node that wait to be fetched again.", func(c *admin.StatusCluster) float64 { return float64(c.Fetching) }),
		ofCluster("trawl_cluster_shards_unfetchable", "Damaged shards of this node that no node has whole.", func(c *admin.StatusCluster) float64 { return float64(c.Unfetchable) }),
		ofCluster("trawl_cluster_parts", "Parts of the work of all, of 64, that fall to this node.", func(c *admin.StatusCluster) float64 { return float64(partsOf(c)) }),
	}
}

func countNodes(c *admin.StatusCluster, live bool) (n int) {
	for _, one := range c.Nodes {
		if one.Live == live {
			n++
		}
	}
	return n
}

// partsOf is how many parts the node has that tells.
func partsOf(c *admin.StatusCluster) int {
	for _, n := range c.Nodes {
		if n.ID == c.Node {
			return n.Parts
		}
	}
	return 0
}
