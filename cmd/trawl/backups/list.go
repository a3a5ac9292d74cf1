package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store/backup"
)

// ask has the destination listed, unless it is being listed, and returns what is closed
// when it has been.
func (r *Runner) ask(now time.Time) (answered <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered == nil {
		r.answered, r.stored.Asked = make(chan struct{}), now
		leaveWord(r.look, struct{}{})
	}
	return r.answered
}

const (
	// lookWithin is how long a destination may take to be listed.
	lookWithin = time.Minute
	// mostRead is how many backups are read each time: the rest is for the next time.
	mostRead = 100
)

// errSilent is that of a destination that takes longer.
var errSilent = fmt.Errorf("the destination has not answered within %s", lookWithin)

// keepListed lists the destination of the plan whenever BackupStatus asks, until ctx
// ends. One that does not answer holds up no other work.
func (r *Runner) keepListed(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.look:
			r.list(ctx)
		}
	}
}

func (r *Runner) list(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookWithin, errSilent)
	defer cancel()
	r.mu.Lock()
	known := map[string]backup.Summary{}
	for _, b := range r.stored.All {
		if b.Objects > 0 {
			known[b.ID] = b
		}
	}
	r.mu.Unlock()
	all, err := summaries(ctx, r.opts.Plan.To, known)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored.Asked, r.stored.Error = time.Time{}, ""
	if err != nil {
		r.stored.Error = backup.Brief(cmp.Or(context.Cause(ctx), err).Error())
	} else {
		r.stored.All, r.stored.Seen = all, time.Now()
	}
	close(r.answered)
	r.answered = nil
}

// summaries lists a destination, the newest first, and reads those that are not known, as
// many as it can in the time: the rest is for the next time. It has no key: what is
// encrypted stays so.
func summaries(ctx context.Context, destination string, known map[string]backup.Summary) ([]backup.Summary, error) {
	dest, err := OpenDestination(destination)
	if err != nil {
		return nil, err
	}
	all, err := backup.List(ctx, dest)
	if errors.Is(err, backup.ErrNoBackups) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]backup.Summary, 0, len(all))
	read := 0
	for i := len(all) - 1; i >= 0; i-- {
		b, ok := known[all[i].ID]
		if !ok && read < mostRead && ctx.Err() == nil {
			b, read = backup.Summarize(ctx, dest, backup.Keys{}, all[i]), read+1
			ok = ctx.Err() == nil
		}
		if !ok {
			b = backup.Summary{Backup: all[i]}
		}
		out = append(out, b)
	}
	return out, nil
}
