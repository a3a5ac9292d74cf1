package backups

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
)

// Options are what backups need of a data directory at work.
type Options struct {
	Store *store.Store
	// Plan is the section backup of the configuration file, nil if it has none.
	Plan *config.Backup
	// Program names this program in backups.
	Program string
	Log     zerolog.Logger
	// Mine reports whether the backups of the plan are the work of this process.
	Mine func() bool
	// Searching is how many searches are at work.
	Searching func() int
	// UntilStop returns a context that ends when the server stops, too.
	UntilStop func(context.Context) (context.Context, context.CancelFunc)
	// Busy says that memory is needed until end is called.
	Busy func() (end func())
}

// Runner makes the backups of a data directory, and knows those of its destination.
// Methods that ask for work leave word in a channel, and do not wait for it. It is safe
// for concurrent use.
type Runner struct {
	opts Options
	// making is held while a backup is made.
	making sync.Mutex
	// wake holds a token when a backup of the plan is to be made now, look when the
	// destination is to be listed, and check the ID of a backup to verify.
	wake, look chan struct{}
	check      chan string

	mu sync.Mutex // guards the rest
	// planned says that a backup of the plan is at work or asked for, with the prune
	// behind it; running is the backup at work, of whatever plan, nil if none is.
	planned bool
	running *manage.BackupProgress
	// stored is what the destination has, answered is closed when the look at work ends.
	stored   manage.StoredBackups
	answered chan struct{}
	// verifying says that a verification is at work or asked for; checks are remembered.
	verifying bool
	checks    map[string]manage.BackupCheck
}

var (
	_ admin.Backups  = (*Runner)(nil)
	_ manage.Backups = (*Runner)(nil)
)

// New returns what makes the backups of a data directory.
func New(o Options) *Runner {
	return &Runner{
		opts: o,
		wake: make(chan struct{}, 1), look: make(chan struct{}, 1), check: make(chan string, 1), checks: map[string]manage.BackupCheck{},
	}
}

// Run makes the backups of the plan, and those that are asked for, until ctx ends. It
// lists and verifies meanwhile.
func (r *Runner) Run(ctx context.Context) {
	if r.opts.Plan == nil {
		return // nothing else is asked for
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { r.keepListed(ctx) })
	beside.Go(func() { r.keepVerified(ctx) })
	r.keep(ctx)
}
