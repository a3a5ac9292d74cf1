package service

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store/check"
	"github.com/trawlsearch/trawl/store/ingest"
)

var _ httpapi.Checker = (*Service)(nil)

// Check verifies the data directory and calls each for what is wrong. With
// repair it then takes what is damaged out of service and indexes its
// repositories anew; their symbols and commits are read by whoever reads them
// after any sync. It yields to searches.
func (s *Service) Check(ctx context.Context, quick, repair bool, report func(ingest.Progress), each func(check.Finding) error) error {
	ctx, cancel := s.untilStop(ctx)
	defer cancel()
	end := s.busy.begin()
	findings, err := s.check(ctx, quick, report, each)
	end()
	if err != nil || !repair || len(findings) == 0 {
		return err
	}
	names, err := check.Prepare(s.store, findings, time.Now())
	for _, name := range names {
		if err == nil {
			_, err = s.Sync(ctx, name, report)
		}
	}
	return err
}

func (s *Service) check(ctx context.Context, quick bool, report func(ingest.Progress), each func(check.Finding) error) (findings []check.Finding, err error) {
	shown := int64(-1)
	o := check.Options{Quick: quick, Pause: s.letSearch, Report: func(done, total int64) {
		if step := done * 200 / max(total, 1); step != shown {
			shown = step
			report(ingest.Progress{Phase: "check", Done: int(done), Total: int(total)})
		}
	}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = check.Store(ctx, s.store, o, func(f check.Finding) {
		findings = append(findings, f)
		if told := each(f); told != nil {
			cancel() // nobody listens any more
		}
	})
	return findings, err
}

// Work that can wait lets searches go first, but is never kept from going on for
// longer than this.
const (
	letSearchFor   = 100 * time.Millisecond
	letSearchEvery = 5 * time.Millisecond
)

// letSearch waits while searches are at work, within bounds.
func (s *Service) letSearch(ctx context.Context) error {
	for waited := time.Duration(0); s.turns.Working() > 0 && waited < letSearchFor; waited += letSearchEvery {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(letSearchEvery):
		}
	}
	return ctx.Err()
}
