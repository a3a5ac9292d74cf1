package ingest

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// historyPlan says which part of a history to read, and which to forget.
type historyPlan struct {
	sequence uint32
	// again says that the indexed commits were read under other settings, or
	// that some are damaged. All are then forgotten: commits that are read
	// again could not be put among the others in the order of the log.
	again bool
	// gone are the ids of kept commits that are to be forgotten; nil is none.
	gone map[string]bool
	// oids are the ids of the commits to read, newest first, one behind the
	// other; position and effective are theirs in the log.
	oids      []byte
	size      int
	position  []uint32
	effective []int64
	// listed counts the commits of the log so far, and lowest is the lowest date of
	// them.
	listed int
	lowest int64
	// parents maps a commit that may be kept already to the last of these whose
	// parent it is.
	parents map[string]int
	// diffs is the position up to which diffs are read.
	diffs int
	// more says that there are older commits that are not kept.
	more bool
}

// errEnough ends a listing.
var errEnough = errors.New("enough")

func (p *historyPlan) len() int { return len(p.position) }

// next takes the next commit of the log, which is to be read if it is not kept.
func (p *historyPlan) next(oid []byte, seconds int64, kept bool) {
	if p.listed == 0 || seconds < p.lowest {
		p.lowest = seconds
	}
	p.listed++
	if kept {
		return
	}
	p.size = len(oid)
	p.oids = append(p.oids, oid...)
	p.position = append(p.position, uint32(p.listed-1))
	p.effective = append(p.effective, p.lowest)
}

// ids returns the hex ids of commits from up to but not including to.
func (p *historyPlan) ids(from, to int) []string {
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, hex.EncodeToString(p.oids[i*p.size:(i+1)*p.size]))
	}
	return out
}

// makePlan compares the log of the tip with what is kept. Where the tip only grew
// the new commits are listed and no more; else all are, so that neither an
// interruption nor a history that was rewritten asks for more care.
func (j *historyJob) makePlan(ctx context.Context, sn *store.Snapshot) (*historyPlan, error) {
	h := &j.repository.History
	o := j.hs.opts
	p := &historyPlan{sequence: h.Sequence + 1, again: h.Depth != o.historyDepth() || lost(sn, h.Shards), diffs: o.HistoryDiffs, more: h.More}
	if j.tip == "" || o.HistoryCommits <= 0 {
		p.again, p.more = true, j.tip != ""
		return p, nil
	}
	if !p.again && h.Reading == "" && h.Tip != "" {
		grown, err := j.git.IsAncestor(ctx, h.Tip, j.tip)
		if err != nil {
			return nil, err
		}
		if grown {
			if err := j.list(ctx, p, []string{h.Tip}, nil); err != nil {
				return nil, err
			}
			return p, j.followParents(sn, p)
		}
	}
	if j.small && h.Commits > mostSmallCommits {
		return nil, errNotSmall
	}
	if h.Reading == j.tip && !p.again {
		// Commits read before the interruption have lower positions, also if
		// those were counted without the older commits.
		p.sequence = h.Sequence
	}
	p.more = false
	kept := map[string]bool{}
	if !p.again {
		err := eachCommit(sn, j.repository, func(_ shard.View, t *shard.Commits, i int) error {
			kept[string(t.OID(i))] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if err := j.list(ctx, p, nil, kept); err != nil {
		return nil, err
	}
	p.gone = kept
	return p, j.followParents(sn, p)
}

// followParents makes commits no older than their parents that are kept. Within
// one log git's order is all there is to know; but where the tip of the last
// reading was dated in the future, what was committed on it would sort behind.
func (j *historyJob) followParents(sn *store.Snapshot, p *historyPlan) error {
	if len(p.parents) == 0 {
		return nil
	}
	return eachCommit(sn, j.repository, func(_ shard.View, t *shard.Commits, i int) error {
		last, ok := p.parents[string(t.OID(i))]
		for k := last; ok && k >= 0 && p.effective[k] < t.Effective[i]; k-- {
			p.effective[k] = t.Effective[i]
		}
		return nil
	})
}

// list adds the commits of the tip to p, without those of not and the kept. It
// takes from kept what it meets.
func (j *historyJob) list(ctx context.Context, p *historyPlan, not []string, kept map[string]bool) error {
	follows := !p.again && j.repository.History.Commits > 0
	p.parents = map[string]int{}
	err := j.git.RevList(ctx, []string{j.tip}, not, func(l git.Listed) error {
		if p.listed == j.hs.opts.HistoryCommits {
			p.more = true
			return errEnough
		}
		oid := unhex(l.OID)
		known := kept[string(oid)]
		p.next(oid, l.Seconds, known)
		if known {
			delete(kept, string(oid))
			return nil
		}
		if j.small && p.len() > mostSmallCommits {
			return errNotSmall
		}
		for _, parent := range l.Parents {
			if follows {
				p.parents[string(unhex(parent))] = p.len() - 1
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
