package settings

import (
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/admin"
)

// nodesData is what the page of nodes shows.
type nodesData struct {
	frame
	// Cluster is nil for a store of one machine.
	Cluster *admin.StatusCluster
	// Behind is how many versions the node that answers lacks.
	Behind uint64
	Nodes  []nodeRow
}

// nodeRow is a line of the list.
type nodeRow struct {
	admin.StatusNode
	// This says that it is the node that answers.
	This   bool
	Behind uint64
	// Does are the tasks that it does for all.
	Does string
}

// Size writes bytes for people.
func (nodeRow) Size(bytes uint64) string {
	return strconv.FormatFloat(float64(bytes)/1e9, 'f', 1, 64) + " GB"
}

func (d *nodesData) fill(v *visit) error {
	s, err := v.area.Status(v.r.Context())
	if err != nil || s.Cluster == nil {
		return err
	}
	d.Cluster = s.Cluster
	d.Behind = s.Cluster.Behind(s.Cluster.Applied)
	for _, n := range s.Cluster.Nodes {
		d.Nodes = append(d.Nodes, nodeRow{
			StatusNode: n, This: n.ID == s.Cluster.Node, Behind: s.Cluster.Behind(n.Applied), Does: strings.Join(n.Tasks, ", "),
		})
	}
	return nil
}
