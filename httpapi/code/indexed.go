package code

import (
	"errors"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// DocumentRun is a run of neighbouring documents of a shard, which are those of
// one repository. They are read from the store, which needs no git.
type DocumentRun struct {
	View       shard.View
	Table      *shard.Documents
	First, End int
	away       interface{ Contains(uint16) bool }
}

// Runs returns the documents of the indexed generation of a repository on its
// default branch, as long as the snapshot is open.
func Runs(sn *store.Snapshot, r *store.Repository) ([]DocumentRun, error) { return RunsAt(sn, r, 0) }

// RunsAt is Runs for any of the branches of the record.
func RunsAt(sn *store.Snapshot, r *store.Repository, branch int) ([]DocumentRun, error) {
	var out []DocumentRun
	for _, id := range r.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			continue
		}
		table, err := v.Documents()
		if err != nil {
			return nil, err
		}
		away := awayFrom(v, r, branch)
		for run := range table.RunsOf(r.ID) {
			out = append(out, DocumentRun{v, table, run.First, run.End, away})
		}
	}
	return out, nil
}

// Lives reports whether a document of the run is one of its branch.
func (r *DocumentRun) Lives(i int) bool {
	return !r.away.Contains(uint16(i)) && (r.View.Dead == nil || !r.View.Dead.Contains(uint16(i)))
}

// Find returns which document of the run has a path.
func (r *DocumentRun) Find(path string) (i int, ok bool) {
	for i := r.First; i < r.End; i++ {
		if r.Table.Path(i) == path && r.Lives(i) {
			return i, true
		}
	}
	return 0, false
}

// Text returns a copy of the text of a document.
func Text(v shard.View, table *shard.Documents, i int) (out []byte, err error) {
	t := v.Text()
	defer func() { err = errors.Join(err, t.Close()) }()
	start := table.TextStart[i]
	borrowed, err := t.Slice(start, start+table.TextBytes[i])
	return append([]byte{}, borrowed...), err
}

// awayFrom are the documents of a shard that only other branches hold.
func awayFrom(v shard.View, r *store.Repository, branch int) interface{ Contains(uint16) bool } {
	if away := v.Away(r.ID); branch < len(away) && away[branch] != nil {
		return away[branch]
	}
	return none{}
}

// none holds nothing.
type none struct{}

// Contains is false.
func (none) Contains(uint16) bool { return false }
