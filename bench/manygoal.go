package bench

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The goals of a run over many repositories, for 10,000 of them on two cores.
// With another number they are shown all the same.
const (
	textOfZoekt    = 0.25
	symbolsOfZoekt = 0.6
	preciseGoal    = 1500 * time.Microsecond
	noneGoal       = time.Second
	meanwhileGoal  = 10 * time.Millisecond
	commitGoal     = 50 * time.Millisecond
	unchangedGoal  = 10 * time.Second
	restartGoal    = time.Second
)

// check returns the goals of the run, as far as it came.
func (r *ManyReport) check() []Check {
	return slices.Concat(r.checkIndexes(), r.checkServer())
}

func (r *ManyReport) checkIndexes() []Check {
	var checks []Check
	if r.Text.Wall > 0 {
		checks = append(checks, bytesCheck("peak memory, text", r.Text.PeakOwnBytes, r.SettingBytes))
	}
	if r.Unchanged.Wall > 0 {
		checks = append(checks,
			bytesCheck("peak memory, nothing changed", r.Unchanged.PeakOwnBytes, r.SettingBytes),
			durationCheck("nothing changed, processor", r.Unchanged.CPU, unchangedGoal))
	}
	if r.Symbols != nil {
		checks = append(checks, bytesCheck("peak memory, symbols and history", r.Symbols.PeakOwnBytes, r.SettingBytes))
	}
	if r.Zoekt != nil {
		checks = append(checks, shareCheck("first index, share of zoekt", float64(r.Text.Wall), float64(r.Zoekt.Wall), textOfZoekt))
		if r.Symbols != nil {
			checks = append(checks, shareCheck("with symbols and history", float64(r.Symbols.Wall), float64(r.Zoekt.Wall), symbolsOfZoekt))
		}
	}
	return checks
}

func (r *ManyReport) checkServer() []Check {
	var checks []Check
	if r.Bulk.Absent.Count > 0 {
		checks = append(checks,
			bytesCheck("peak memory, serving", r.Bulk.PeakBytes, r.SettingBytes),
			durationCheck("absent word during indexing, p99", r.Bulk.Absent.P99, meanwhileGoal),
			r.checkShards())
	}
	if r.Apart != nil {
		checks = append(checks,
			bytesCheck("peak memory, shards apart", r.Apart.PeakBytes, r.SettingBytes),
			durationCheck("ready with shards apart", r.Apart.Ready, restartGoal))
	}
	for _, q := range r.Queries {
		switch q.Name {
		case absentQuestion, repoQuestion:
			checks = append(checks, q.check("at once", q.AtOnce, preciseGoal), q.check("idle", q.Later, preciseGoal))
		case noneQuestion:
			checks = append(checks, q.check("idle", q.Later, noneGoal))
		}
	}
	for _, t := range r.Typing {
		checks = append(checks, durationCheck(t.Name, t.median(), t.Goal))
	}
	// One that the server saw by itself, before it was asked to, was read at no known time.
	if followed := slices.DeleteFunc(slices.Clone(r.Commits), func(c ManyCommit) bool { return c.Read == 0 }); len(followed) > 0 {
		checks = append(checks, durationCheck("one commit, from read to found", median(followed, ManyCommit.AfterRead), commitGoal))
	}
	if r.Restart.Ready > 0 {
		checks = append(checks, durationCheck("ready after a restart", r.Restart.Ready, restartGoal))
	}
	return checks
}

// fullShardBytes is the text of a shard that is not joined with others any more: half
// of the most that one has.
const fullShardBytes = 128 << 20

// checkShards holds the most shards that were seen against three times the logarithm
// of the number of repositories, beyond those that are full.
func (r *ManyReport) checkShards() Check {
	limit := int(3*math.Log(float64(max(r.Fleet.Repositories, 2)))) + int(r.Fleet.Bytes/fullShardBytes)
	return Check{"shards during indexing", fmt.Sprint(r.Bulk.MostShards), fmt.Sprintf("<= %d", limit), r.Bulk.MostShards <= limit}
}

// check holds the median of runs against a goal. Without runs, which is a wrong
// answer, it fails.
func (q ManyQuery) check(when string, runs []PeerRun, goal time.Duration) Check {
	c := durationCheck(q.Name+", "+when, median(runs, runDone), goal)
	c.Passed = c.Passed && len(runs) > 0
	return c
}
