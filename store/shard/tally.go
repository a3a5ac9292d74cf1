package shard

import (
	"math"
	"sort"
	"strings"
)

// Run is a run of neighbouring documents of one repository in a shard: those
// from First up to but not including End.
type Run struct {
	Repository uint32
	First, End int
}

// tally notes the runs of repositories and the documents without searchable
// content, so that no search goes through all documents for either.
func (d *Documents) tally() {
	for i, id := range d.Repository {
		if n := len(d.runs); n > 0 && d.runs[n-1].Repository == id {
			d.runs[n-1].End = i + 1
		} else {
			d.runs = append(d.runs, Run{id, i, i + 1})
		}
		if d.Reason[i] != Searchable {
			d.unsearchable = append(d.unsearchable, uint16(i))
		}
	}
}

// Runs returns the runs of repositories, in order; one that was indexed several
// times may have several. They are shared.
func (d *Documents) Runs() []Run { return d.runs }

// RunOf returns the run that document i is in.
func (d *Documents) RunOf(i int) Run {
	return d.runs[sort.Search(len(d.runs), func(n int) bool { return d.runs[n].End > i })]
}

// Unsearchable returns the documents whose content cannot be searched,
// ascending, dead ones too. They are shared.
func (d *Documents) Unsearchable() []uint16 { return d.unsearchable }

// Depth returns how many slashes the path of document i has, at most 255.
func (d *Documents) Depth(i int) byte {
	d.deep.Do(func() {
		d.depths = make([]byte, d.Len())
		for i := range d.depths {
			d.depths[i] = byte(min(strings.Count(d.Path(i), "/"), math.MaxUint8))
		}
	})
	return d.depths[i]
}
