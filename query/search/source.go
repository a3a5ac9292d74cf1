package search

import (
	"context"
	"iter"
	"slices"

	"github.com/trawlsearch/trawl/store"
)

// source is what documents come from: a shard, or the files of one repository
// that have to be read through git.
type source struct {
	view store.View
	// rest is nil for a shard.
	rest *gitSource
}

// sources returns what holds documents of the chosen repositories, in order:
// shards first, and then what is in none of them.
func (r *run) sources(pass []*basic) []source {
	var out []source
	for _, v := range r.shards(pass) {
		out = append(out, source{view: v})
	}
	for _, repo := range r.repos {
		if rest := restOf(repo, pass); rest != nil {
			out = append(out, source{rest: rest})
		}
	}
	return out
}

// shards returns the shards that hold documents of a chosen repository, in
// order.
func (r *run) shards(pass []*basic) []store.View {
	wanted := map[uint32]bool{}
	for _, b := range pass {
		for _, t := range b.targets {
			for _, id := range t.stored.Shards {
				wanted[id] = wanted[id] || t.reaches(id)
			}
		}
	}
	return slices.DeleteFunc(r.snap.Shards(), func(v store.View) bool { return !wanted[v.ID] })
}

// reaches reports whether a revision of t may have documents in the shard.
func (t *target) reaches(shard uint32) bool {
	return slices.ContainsFunc(t.revs, func(rev *revision) bool { return rev.reaches(shard) })
}

func (rev *revision) reaches(shard uint32) bool {
	return rev.branch >= 0 || rev.contents != nil && rev.contents.in[shard] != nil
}

// plans calls each with the plans of a source for one pass, until it returns
// false or something fails. What cannot be planned is recorded.
func (r *run) plans(ctx context.Context, src source, in *reading, pass []*basic, each func(*shardPlan) bool) error {
	if src.rest != nil {
		return r.readRest(ctx, src.rest, pass, each)
	}
	p, err := planShard(ctx, src.view, in, nil, pass, r.set.PlanBytes, r.withoutLists(src.view.ID))
	if err != nil {
		if ctx.Err() == nil {
			r.fail(src.view.ID, err)
		}
		return err
	}
	each(p)
	return nil
}

// keysIn yields the revisions of the targets that may have documents in a
// source.
func keysIn(targets map[uint32]*target, src source) iter.Seq[revisionKey] {
	return func(yield func(revisionKey) bool) {
		for id, t := range targets {
			switch {
			case src.rest != nil && id != src.rest.repo.ID:
				continue
			case src.rest == nil && !slices.Contains(t.stored.Shards, src.view.ID):
				continue
			}
			for _, rev := range t.revs {
				there := src.rest == nil && rev.reaches(src.view.ID) || src.rest != nil && rev.contents != nil && len(rev.contents.rest) > 0
				if there && !yield(t.key(rev)) {
					return
				}
			}
		}
	}
}

// repositoryIn reports whether documents of t may be in one of the sources.
func repositoryIn(t *target, sources []source) bool {
	return slices.ContainsFunc(sources, func(src source) bool {
		if src.rest != nil {
			return src.rest.repo.ID == t.stored.ID
		}
		return slices.Contains(t.stored.Shards, src.view.ID)
	})
}
