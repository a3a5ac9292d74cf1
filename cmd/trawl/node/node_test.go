package node

import (
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/member"
)

// A node that died is shown as silent until it is started again on its directory.
func TestStatusOfNodes(t *testing.T) {
	now := time.Now()
	one := func(id, facts string, seen time.Duration) cluster.Node {
		return cluster.Node{ID: id, Facts: []byte(facts), Seen: now.Add(-seen), Applied: 7}
	}
	leases := []cluster.Lease{{Name: "part-01", Node: "b"}, {Name: "part-02", Node: "b"}, {Name: TaskMerge, Node: "b"}}
	got := statusNodes([]cluster.Node{
		one("a", `{"host":"one","data":"/data"}`, time.Minute), // the process before that of b
		one("b", `{"host":"one","data":"/data","shards":3}`, time.Second),
		one("c", `{"host":"two","data":"/data"}`, time.Minute),
		one("d", `no facts`, 0),
		one("e", ``, time.Minute),
	}, leases)
	if len(got) != 4 || got[0].ID != "b" || got[1].ID != "c" || got[2].ID != "d" || got[3].ID != "e" {
		t.Fatalf("nodes %+v, want b, c, d and e", got)
	}
	if b := got[0]; !b.Live || b.Parts != 2 || len(b.Tasks) != 1 || b.Tasks[0] != TaskMerge || b.Shards != 3 || b.Applied != 7 {
		t.Errorf("b is %+v", b)
	}
	if got[1].Live || !got[2].Live || got[3].Live {
		t.Error("c and e are silent, and d is live")
	}
}

// The holder of a number is the node with the lease of its part.
func TestHolderOf(t *testing.T) {
	nodes := []cluster.Node{{ID: "a", Address: "http://10.0.0.1:8080", Facts: []byte(`{"host":"one"}`)}, {ID: "b", Facts: []byte(`no facts`), Address: "http://10.0.0.2:8080"}}
	leases := []cluster.Lease{{Name: TaskMerge, Node: "b"}, {Name: member.Part(1), Node: "a"}, {Name: member.Part(2), Node: "b"}, {Name: member.Part(3), Node: "gone"}}
	for number, want := range map[uint32]string{1: "one http://10.0.0.1:8080", 65: "one http://10.0.0.1:8080", 2: "http://10.0.0.2:8080", 3: "", 4: ""} {
		if got := holderOf(nodes, leases, number); got != want {
			t.Errorf("%d is held by %q, want %q", number, got, want)
		}
	}
}
