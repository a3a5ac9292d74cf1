package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/backups"
	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/hostsync"
	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/graphql/jobs"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/monitors"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/saved"
	"github.com/trawlsearch/trawl/store/spool"
)

// Options are what a service needs beside its settings.
type Options struct {
	Log zerolog.Logger
	// Brute searches without the index.
	Brute bool
	// Symbols says that symbols are read, if the settings want that too.
	Symbols bool
	// History says that commits are read.
	History bool
	// Processors is how many goroutines search at once, and how many read symbols. One
	// less computes for syncs and merges, whose git leaves processors to searches then.
	// 0 is one per processor that Go uses, and no bound for syncs and merges.
	Processors int
	// Observer, if set, hears what the service does.
	Observer Observer
	// Address is where this process listens, for other nodes to show.
	Address string
	// Ended and Hidden are those of identity.Options.
	Ended  func()
	Hidden func(before, after *store.Repository)
}

// Service is an open data directory. It is safe for concurrent use.
type Service struct {
	store    *store.Store
	node     *node.Node
	registry *identity.Registry
	// git is what all of git's processes share.
	git *git.Budget
	// spool keeps what clients have not read yet.
	spool *spool.Space
	book  *saved.Book
	apps  *oauth.Book
	jobs  *jobs.Runner
	// monitors tell of what is new in repositories.
	monitors *monitors.Runner
	gateway  gateway
	hosts    *hostsync.Services
	indexer  *ingest.Indexer
	searcher *search.Searcher
	opts     Options
	// searches has the turns of the searches at work.
	searches     *admission.Queue
	mirrors      mirrorSize
	set          config.Settings
	background   background
	disk         DiskMonitor
	repositories *Repositories
	upkeep       *Upkeep
	backups      *backups.Runner
	checker      *Checker
}

// How long git waits for memory beside git's other processes. A request goes on
// without it soon, and says so; background work has time.
const (
	searchPatience = 2 * time.Second
	pagePatience   = 5 * time.Second
	syncPatience   = time.Minute
)

// notOwned says what to do about a data directory of another account.
func notOwned(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: do this as the account that the data directory belongs to, or give another --data", err)
	}
	return err
}

// Open opens the data directory of the settings, which Migrate has brought to
// the newest format.
func Open(ctx context.Context, set config.Settings, o Options) (*Service, error) {
	node, err := openNode(ctx, set, o.Log)
	if err != nil {
		return nil, err
	}
	s, err := openStore(set, o, node)
	if err != nil {
		node.Close()
		return nil, err
	}
	return s, nil
}

// openStore opens the data directory, which cluster shares with others.
func openStore(set config.Settings, o Options, cluster *node.Node) (*Service, error) {
	memory := divide(int64(set.Memory))
	opening := store.Options{CacheBytes: memory.caches, ListBytes: memory.lists, LargeBytes: memory.large, Event: storeEvent(o.Log)}
	cluster.Share(&opening)
	st, err := store.Open(set.Data, opening)
	if err != nil {
		return nil, notOwned(err)
	}
	registry, err := identity.Open(st, identityOptions(set, o))
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	s := &Service{
		store:      st,
		node:       cluster,
		registry:   registry,
		git:        git.NewBudget(memory.git),
		book:       saved.Open(st, saved.Options{Key: secretsKey(set), Damaged: registry.TellDamaged}),
		apps:       oauth.Open(st, registry, oauth.Options{}),
		opts:       o,
		set:        set,
		disk:       DiskMonitor{log: o.Log, resumed: newSignal()},
		searches:   admission.NewQueue(memory.searches, o.Processors),
		background: background{closing: make(chan struct{}), observer: o.Observer},
	}
	s.upkeep = &Upkeep{
		store: st, node: cluster, background: &s.background, turns: &turns{large: make(chan struct{}, 1), busy: &s.background.busy}, disk: &s.disk, log: o.Log,
		history: o.History, mergeDue: newSignal(), symbolsDue: newSignal(), historyDue: newSignal(),
	}
	s.disk.resume = s.upkeep.synced
	s.repositories = &Repositories{
		store: st, node: cluster, background: &s.background, synced: s.upkeep.synced, allowLocal: set.AllowLocalSources,
		asked: asked{store: st, node: cluster, log: o.Log, signal: newSignal()}, logs: newSyncLogs(),
	}
	s.backups = backups.New(backups.Options{
		Store: st, Plan: set.Backup, Program: program(), Log: o.Log, Mine: func() bool { return cluster.Does(node.TaskBackup) },
		Searching: s.searches.Working, UntilStop: s.background.untilStop, Busy: s.background.busy.begin,
	})
	if s.spool, err = openSpool(st, int64(set.MinFreeBytes)); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	damaged := &quarantine{store: st, log: o.Log, refresh: s.repositories.Refresh}
	s.searcher = search.New(st, search.Settings{
		Workers: o.Processors, Brute: o.Brute, MaxTimeout: set.MaxTimeout, MaxTextBytes: int64(set.MaxTextBytes), Addresses: registry.Addresses, Damaged: damaged.setAside,
		Git: s.git.Behind().Patient(searchPatience),
	})
	s.jobs = &jobs.Runner{Store: st, Book: s.book, Registry: registry, Searcher: s.searcher, Log: o.Log, Mine: cluster.Mine}
	s.gateway.guard.AllowLocal = set.AllowLocalSources
	s.monitors = s.newMonitors()
	keeper := &hostsync.Keeper{
		Store: st, Book: s.book, Clients: &hosts.Clients{Guard: s.gateway.guard}, Registry: registry, Providers: set.Providers, Log: o.Log, Now: time.Now,
		Add: s.repositories.Declare, Remove: s.repositories.Remove, Refresh: s.repositories.Refresh,
	}
	keeper.SetGrace(set.VanishedAfter)
	s.hosts = hostsync.NewServices(keeper, cluster.Mine, s.repositories.pushed)
	ingesting := ingestOptions(set)
	ingesting.SymbolWorkers = o.Processors
	if o.Symbols && set.Symbols {
		s.upkeep.program, s.upkeep.ctagsErr = findCtags()
		ingesting.Ctags = s.upkeep.program
	}
	ingesting.Proxy, ingesting.Credentials = s.gateway.url, s.hosts.Credentials
	ingesting.Yield, ingesting.Git = yieldTo(s.searcher.Busy), s.git.ForSyncs().Patient(syncPatience)
	if o.Processors > 0 {
		ingesting.Processors, ingesting.Readers = max(o.Processors-1, 1), o.Processors+1
		ingesting.Git = ingesting.Git.Behind()
	}
	ingesting.Followed = s.repositories.logs.follow
	ingesting.Turn, ingesting.Begin, ingesting.Mine = s.upkeep.turns.enter, s.upkeep.turns.begin, cluster.Mine
	st.Subscribe(func(a store.Applied) {
		if a.Shards || a.Everything {
			s.upkeep.mergeDue.set()
		}
		s.repositories.asked.applied(a)
	})
	s.indexer = ingest.New(st, ingesting)
	s.upkeep.indexer, s.repositories.indexer, s.disk.ready = s.indexer, s.indexer, s.indexer.Room.Ready
	s.checker = &Checker{
		store: st, mirrors: s.indexer.Mirrors, background: &s.background, sync: s.repositories.Sync, renew: s.repositories.renew, searching: s.searches.Working, declared: set.Repositories,
	}
	sweepMirrors(st, o.Log)
	return s, nil
}

// identityOptions has what happens to accounts logged and observed.
func identityOptions(set config.Settings, o Options) identity.Options {
	accounts := set.IdentityOptions()
	accounts.Ended, accounts.Hidden = o.Ended, o.Hidden
	accounts.Damaged = func(err error) { o.Log.Error().Err(err).Msg("damaged record of accounts") }
	accounts.Pinned = func(p identity.Pin) {
		o.Log.Info().Str("reader", p.Reader).Uint32("account", p.ID).Msg("readers: " + p.String())
	}
	accounts.NotApplied = func(repository string, err error) {
		o.Log.Error().Str("repo", repository).Err(err).Msg("set readers")
	}
	if o.Observer != nil {
		accounts.Tried = o.Observer.SignedIn
	}
	return accounts
}

// sweepMirrors removes mirrors of no repository.
func sweepMirrors(st *store.Store, log zerolog.Logger) {
	switch n, err := ingest.SweepMirrors(st); {
	case err != nil:
		log.Warn().Err(err).Msg("remove mirrors of no repository")
	case n > 0:
		log.Info().Int("mirrors", n).Msg("removed mirrors of no repository")
	}
}

// openSpool opens the space for what clients have not read yet, which leaves the
// disk as much room as indexing does.
func openSpool(st *store.Store, minFreeBytes int64) (*spool.Space, error) {
	return spool.Open(filepath.Join(st.Dir(), spool.Folder), spool.Options{Free: func() (int64, error) {
		disk, err := st.Disk()
		return int64(min(disk.FreeBytes, math.MaxInt64)) - minFreeBytes, err
	}})
}

// storeEvent logs the events of the store.
func storeEvent(log zerolog.Logger) func(string, error) {
	return func(message string, err error) { log.Warn().Err(err).Str("event", message).Msg("store") }
}

// ingestOptions translates the settings, whose 0 means no limit where that of
// the options means the default.
func ingestOptions(set config.Settings) ingest.Options {
	o := ingest.Options{
		MaxIndexedBytes: int64(set.MaxIndexedBytes),
		MaxTextBytes:    int64(set.MaxTextBytes),
		MinFreeBytes:    int64(set.MinFreeBytes),
		HistoryCommits:  orNone(set.HistoryMessages),
		HistoryDiffs:    orNone(set.HistoryDiffs),
	}
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = -1
	}
	return o
}

func orNone(commits int) int {
	if commits == 0 {
		return -1
	}
	return commits
}

// Stop ends the syncs that are running and those to come. It may be called
// once.
func (s *Service) Stop() { close(s.background.closing) }

// Keep does all work in the background but syncs and what asks for them, until ctx ends.
func (s *Service) Keep(ctx context.Context) {
	var working sync.WaitGroup
	for _, work := range []func(context.Context){
		s.upkeep.Keep, s.jobs.Run, s.monitors.Run, s.disk.Keep, s.backups.Run, s.keepFetched, s.keepCluster,
	} {
		working.Go(func() { work(ctx) })
	}
	working.Go(func() {
		s.registry.Keep(ctx, func(err error) { s.opts.Log.Warn().Err(err).Msg("keep users and sessions") })
	})
	working.Go(func() {
		s.apps.Keep(ctx, func(err error) { s.opts.Log.Warn().Err(err).Msg("keep OAuth grants") })
	})
	working.Wait()
}

// Drain waits until no search is at work, and lets none begin. It may be called
// once, after Stop.
func (s *Service) Drain(ctx context.Context) error {
	for range s.searches.Most() {
		if _, err := s.searches.Enter(ctx, "", false); err != nil {
			return fmt.Errorf("wait for searches: %w", err)
		}
	}
	return nil
}

// Close closes the data directory. Searches and syncs have ended before.
func (s *Service) Close() error {
	s.node.Leave()
	s.indexer.Close()
	s.writeFetched()
	s.hosts.Clients.Close()
	err := errors.Join(s.gateway.close(), s.spool.Close(), s.store.Close())
	s.node.Close()
	return err
}

// Registry returns the registry of users of the data directory.
func (s *Service) Registry() *identity.Registry { return s.registry }

// Repositories returns those of the data directory.
func (s *Service) Repositories() *Repositories { return s.repositories }

// Disk returns what watches the disk of the data directory.
func (s *Service) Disk() *DiskMonitor { return &s.disk }

// Backups returns what makes the backups of the data directory.
func (s *Service) Backups() *backups.Runner { return s.backups }

// Checker returns what verifies the data directory.
func (s *Service) Checker() *Checker { return s.checker }

// Upkeep returns what follows syncs.
func (s *Service) Upkeep() *Upkeep { return s.upkeep }

// Apps returns the OAuth apps and what they were granted.
func (s *Service) Apps() *oauth.Book { return s.apps }

// Hosts returns the external services that repositories come from.
func (s *Service) Hosts() *hostsync.Services { return s.hosts }

// Git is what git's processes for pages share.
func (s *Service) Git() *git.Budget { return s.git.Patient(pagePatience) }

// Spool is where downloads wait for their clients.
func (s *Service) Spool() *spool.Space { return s.spool }

// Dir returns the data directory.
func (s *Service) Dir() string { return s.store.Dir() }

// GraphQL is what GraphQL requests are answered from.
func (s *Service) GraphQL() *graphql.Data {
	return &graphql.Data{Store: s.store, Book: s.book, Registry: s.registry, Repositories: s.repositories, Services: s.hosts, Jobs: s.jobs, Notice: s.disk.Notice, Git: s.Git()}
}

// Kept is where the searches that people keep are.
func (s *Service) Kept() *manage.Kept {
	return &manage.Kept{Store: s.store, Registry: s.registry, Book: s.book, Cancelled: s.jobs.Cancelled, Mail: s.set.Mail != nil, Now: time.Now}
}

// Search implements httpapi.Searcher. As many searches run at once as there is
// memory for; the others wait, and have those yield whose clients do not read.
func (s *Service) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	if s.opts.Observer == nil {
		out, _ := s.search(ctx, q, o, sink)
		return out
	}
	if o.Report == nil {
		o.Report = report.New(time.Now)
	}
	w := &observed{start: time.Now(), sink: sink}
	out, waited := s.search(ctx, q, o, w)
	var yield *answer.YieldError
	if !errors.As(out.Err, &yield) {
		s.over(ctx, q, o, w, waited, out)
	}
	return out
}

func (s *Service) search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) (out search.Outcome, waited time.Duration) {
	start := time.Now()
	if o.Contexts == nil {
		o.Contexts = (&manage.Contexts{Kept: s.Kept(), Actor: auth.From(ctx)}).Resolve
	}
	ticket, err := s.searches.Enter(ctx, o.Asker, o.Bookmark.Resumed())
	waited = time.Since(start)
	if err != nil {
		return search.Outcome{}, waited
	}
	defer ticket.Leave()
	if o.Bookmark != nil {
		o.Bookmark.Ticket = ticket
	}
	defer s.background.busy.begin()()
	return s.searcher.Search(ctx, q, o, sink), waited
}

var _ httpapi.Searcher = (*Service)(nil)
