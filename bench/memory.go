package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// MemoryFacts is trawl under one value of its setting memory: indexing from
// nothing, then answering.
type MemoryFacts struct {
	Setting      string `json:"setting"`
	SettingBytes int64  `json:"settingBytes"`
	Index        Usage  `json:"index"`
	// ReadyBytes is what the server held before its first query, PeakBytes the
	// most while it answered, IdleBytes a while after the last.
	ReadyBytes int64 `json:"readyBytes"`
	PeakBytes  int64 `json:"peakBytes"`
	IdleBytes  int64 `json:"idleBytes"`
	// Rest is how long "a while" was.
	Rest time.Duration `json:"restNanos"`
	// Queries are all queries of the set, one exhaustive run after a first.
	Queries []MemoryQuery `json:"queries"`
}

// MemoryQuery is the time of one query under a setting.
type MemoryQuery struct {
	Name string        `json:"name"`
	Done time.Duration `json:"doneNanos"`
}

// Sum returns the time of all queries.
func (f MemoryFacts) Sum() time.Duration {
	var sum time.Duration
	for _, q := range f.Queries {
		sum += q.Done
	}
	return sum
}

// memory tries each value of the setting on data of its own.
func (r *runner) memory(ctx context.Context) error {
	for _, setting := range r.Memory {
		r.Progress("with memory " + setting)
		facts, err := r.underMemory(ctx, setting)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			// To be ended for want of memory is an outcome, a bad one.
			r.problem("with memory %s: %v", setting, err)
			continue
		}
		r.report.Memory = append(r.report.Memory, facts)
	}
	return nil
}

func (r *runner) underMemory(ctx context.Context, setting string) (_ MemoryFacts, err error) {
	facts := MemoryFacts{Setting: setting, Rest: r.Rest}
	if facts.SettingBytes, err = parseSize(setting); err != nil {
		return facts, err
	}
	dir, err := os.MkdirTemp(r.scratch, "memory-")
	if err != nil {
		return facts, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := r.trawl
	t.data, t.memory = filepath.Join(dir, "data"), setting
	if facts.Index, err = t.index(ctx, r.source.clone); err != nil {
		return facts, err
	}
	s, err := t.serve(ctx)
	if err != nil {
		return facts, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	return facts, r.answerUnder(ctx, s, &facts)
}

// answerUnder asks all queries and watches what the server holds.
func (r *runner) answerUnder(ctx context.Context, s *server, facts *MemoryFacts) error {
	facts.ReadyBytes = s.memory().own
	watch := watchTree(s.cmd.Process.Pid)
	defer watch.stop()
	for _, q := range r.Config.Queries {
		for warm := range 2 {
			a, err := s.search(ctx, q.Exhaustive(), q.PatternType, nil)
			if err != nil {
				return err
			}
			if warm == 1 {
				facts.Queries = append(facts.Queries, MemoryQuery{q.Name, a.Done})
			}
		}
	}
	facts.PeakBytes = watch.stop().own
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(r.Rest):
	}
	facts.IdleBytes = s.memory().own
	return nil
}

// checkMemory wants the setting to be kept.
func (r *Report) checkMemory() []Check {
	var checks []Check
	for _, f := range r.Memory {
		checks = append(checks,
			bytesCheck("indexing with memory "+f.Setting, f.Index.PeakOwnBytes, f.SettingBytes),
			bytesCheck("answering with memory "+f.Setting, f.PeakBytes, f.SettingBytes))
	}
	return checks
}

// parseSize reads a number of bytes as trawl's settings have them: "512MiB".
func parseSize(text string) (int64, error) {
	for unit, shift := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || n > 1<<(62-shift) {
			break
		}
		return n << shift, nil
	}
	return 0, fmt.Errorf("memory %q: want a size such as 512MiB or 1GiB", text)
}
