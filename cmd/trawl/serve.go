package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/metrics"
	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/cmd/trawl/systemd"
	"github.com/trawlsearch/trawl/cmd/trawl/tracing"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/browse"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/complete"
	"github.com/trawlsearch/trawl/httpapi/console"
	"github.com/trawlsearch/trawl/httpapi/finder"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/help"
	"github.com/trawlsearch/trawl/httpapi/home"
	"github.com/trawlsearch/trawl/httpapi/hooks"
	"github.com/trawlsearch/trawl/httpapi/mcp"
	"github.com/trawlsearch/trawl/httpapi/navigate"
	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/httpapi/oidc"
	"github.com/trawlsearch/trawl/httpapi/openapi"
	"github.com/trawlsearch/trawl/httpapi/repolist"
	"github.com/trawlsearch/trawl/httpapi/settings"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

const serveHelp = `Usage: trawl serve [flags] [SOURCE...]

Serve answers searches over HTTP and keeps its repositories up to date. Sources
are added as by "trawl index", which explains what a source is; those of earlier
runs and of the configuration file are known already. Without any, and without
code hosts in that file, the git repository of the current directory is added.

It listens at once and indexes meanwhile: a repository is found from the moment
it is indexed, and /readyz answers 200 when the sources given here are. Each
source is looked at again after half of the time since it last changed, at least
--sync-interval and at most 5 minutes for a local repository and 8 hours for a
remote. One that fails is logged, shown by "trawl repo list", and tried again,
each time later; it stops no other.

The configuration file is read again after each --sync-interval when it has
changed, and whenever the process gets a SIGHUP: repositories, code hosts, and
the settings that "trawl help settings" marks as live. Other settings hold until
the server ends.

The first interrupt ends searches in good order, each with what it has found,
and the second ends the process. Before, for as long as --stop-delay says, /readyz
reports that the server stops while it still answers.

  trawl serve
  trawl serve --data /var/lib/trawl --listen :7080 https://git.example.org/lab/kiln`

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "serve", Short: "answer searches and keep repositories up to date", Long: serveHelp, Args: cobra.ArbitraryArgs}
	settings := settingFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := settings()
		if err != nil {
			return err
		}
		sources, err := parseSources(args)
		if err != nil {
			return err
		}
		out := a.serviceOutput(set)
		return (&host{set: set, sources: sources, output: out}).run(cmd.Context())
	}
	return cmd
}

// host is a running trawl serve.
type host struct {
	output
	set config.Settings
	// sources are those of the command line.
	sources []ingest.Source

	backend backend
	server  *httpapi.Server
	gate    *auth.Gate
	// token is the operator's, secret what the first user is created with, ""
	// if that takes none.
	token, secret string

	// live are the settings now, limits those of them for GraphQL.
	live   *liveSettings
	limits *cost.Current
	// slow has the settings of slow queries.
	slow slowQueries
	// recent is what the server did in the last hour.
	recent recentWork

	started  time.Time
	metrics  *metrics.Metrics
	tracing  *tracing.Tracing // nil if nothing is traced
	notifier systemd.Notifier
	// left says that something did not end, and the store cannot be closed.
	left bool
}

// run listens, then opens the data directory, then serves until ctx ends.
func (h *host) run(ctx context.Context) (err error) {
	service.LimitMemory(int64(h.set.Memory))
	h.started = time.Now()
	h.notifier.Failed = func(err error) { h.log.Warn().Err(err).Msg("tell the service manager") }
	ctx, endTracing, err := h.openTracing(ctx)
	if err != nil {
		return err
	}
	defer endTracing()
	h.server = h.newServer()
	debug, err := h.openDebugServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, debug.close()) }()
	if err := h.server.Open(); err != nil {
		return listenError(h.set.Listen, err)
	}
	defer func() { err = errors.Join(err, h.closeServer()) }()
	svc, err := h.openService(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if !h.left {
			err = errors.Join(err, svc.Close())
		}
	}()
	return h.serve(ctx, svc)
}

// newServer makes the server of the settings, with all that it answers.
func (h *host) newServer() *httpapi.Server {
	h.token = rand.Text()
	h.live = newLiveSettings(h.set, h.log)
	h.limits = cost.NewCurrent(h.set.RateLimits)
	h.slow.set(&h.set)
	h.gate = h.newGate()
	if !h.gate.Local || h.set.Authority != "" {
		h.secret = rand.Text()
	}
	h.metrics = h.newMetrics()
	operator := &admin.Handlers{
		Repositories: h.backend.repositories, Registry: h.backend.registry, Apps: h.backend.apps, Status: h.status, Backups: h.backend.backups,
		Checker: h.backend.checker,
	}
	api := &graphql.Endpoint{Data: h.backend.graphql, Searcher: &h.backend, Limits: h.limits, Site: h.live, ExternalURL: h.set.ExternalURL, Nodes: h.backend.nodes}
	server := &httpapi.Server{
		Addr: h.set.Listen, ExternalURL: h.set.ExternalURL,
		Searcher: &h.backend, Opening: h.backend.opening, Ready: h.backend.waiting, Notice: h.backend.notice,
		Log: h.log, QuietRequests: h.watched, Gate: h.gate, SetupSecret: h.secret, Observer: h.observer(), Streams: stream.Limits{Lend: h.backend.lend},
	}
	people := &oidc.Server{Providers: h.set.Providers, Site: server}
	server.SignInChoices, server.NoPasswords = people.Choices(), h.set.NoPasswords
	service.LimitAnswers(server, int64(h.set.Memory), processors())
	agents := &mcp.Endpoint{
		Off: func() bool { return !h.live.Load().Agents }, GraphQL: api, Searcher: &h.backend, Opening: h.backend.opening, ExternalURL: h.set.ExternalURL, FromOurs: h.gate.FromOurs, Version: buildOf().version,
	}
	languages := &code.Languages{}
	pages := &browse.Endpoint{Store: h.backend.store, Git: h.backend.git, Spool: h.backend.spool, Pages: server, Refresh: h.backend.refresh, Registry: h.backend.registry, Nodes: h.backend.nodes, Languages: languages}
	server.Near = pages.Near
	pages.Links, _ = h.set.Links() // the settings were checked when they were read
	navigator := &navigate.Endpoint{Finder: navigate.Finder{Searcher: &h.backend}, Store: h.backend.store, Git: h.backend.git}
	completer := &complete.Endpoint{Store: h.backend.store, Finder: navigator.Finder, Languages: languages}
	files := &finder.Endpoint{Store: h.backend.store, Git: h.backend.git}
	list := &repolist.Endpoint{Store: h.backend.store, Pages: server, Languages: languages}
	start := &home.Endpoint{Store: h.backend.store, Registry: h.backend.registry, Syncing: h.backend.syncing}
	server.Home = start.Home
	webhooks := &hooks.Endpoint{Receiver: h.backend.hooks}
	apps := &oauth.Server{Book: h.backend.apps, Site: server, Resources: mcp.Paths(), Registers: func() bool { return h.live.Load().Agents && h.live.Load().Registration }}
	h.gate.Bearers = apps
	tools := &console.Console{Server: server}
	book := &help.Book{Server: server, Limits: h.limits}
	area := &settings.Area{Server: server, Repositories: h.backend.syncable, Apps: h.backend.apps, Kept: h.backend.kept, Services: h.backend.hosts, Site: h.live, Backups: h.backend.planned, Status: h.status, Recent: h.recent.recent, Programs: (&programVersions{}).get, More: tools.Sections()}
	server.Contexts = area.Contexts
	server.Extra = slices.Concat(operator.Routes(), api.Routes(), agents.Routes(), area.Routes(), apps.Routes(), people.Routes(), book.Routes(), openapi.Routes(), completer.Routes(), navigator.Routes(), start.Routes(), webhooks.Routes(), files.Routes(), list.Routes(), pages.Routes(), h.metricsRoutes())
	return server
}

// configure has live settings take effect.
func (h *host) configure(svc *service.Service, set *config.Settings) {
	h.limits.Set(set.RateLimits)
	h.slow.set(set)
	h.level.set(set.LogLevel)
	user, address := set.Rates()
	h.gate.SetPolicy(auth.Policy{Anonymous: set.Anonymous, UserRate: user, AddressRate: address})
	svc.Configure(*set)
}

// newGate makes the gate of the settings.
func (h *host) newGate() *auth.Gate {
	user, address := h.set.Rates()
	return &auth.Gate{
		Registry: h.backend.registry, OperatorToken: h.token, Anonymous: h.set.Anonymous,
		Reach: auth.Reach{
			Local: h.set.Local(), ExternalURL: h.set.ExternalURL, Origins: h.set.TrustedOrigins,
			Proxies: h.set.TrustedProxies, UserHeader: h.set.UserHeader,
		},
		UserRate: user, AddressRate: address, Nodes: h.backend.nodes, Current: h.backend.current,
	}
}

// tellSetup logs how to become the first user, if there is none.
func (h *host) tellSetup(ctx context.Context, svc *service.Service) {
	if svc.Registry().Used() {
		return
	}
	secret := h.secret
	if h.set.Authority != "" {
		// Any node creates the first user.
		shared, err := svc.Registry().SetupSecret(ctx)
		if err != nil {
			h.log.Warn().Err(err).Msg("make the secret that creates the first user")
			return
		}
		secret = shared
	}
	url := cmp.Or(h.set.ExternalURL, h.server.URL()) + "/sign-in"
	if secret == "" {
		h.log.Info().Str("url", url).Msg("there are no users: clients on this machine may search, and create the first user")
		return
	}
	h.log.Info().Str("url", url).Str("setup_secret", secret).Msg("there are no users: create the first one with this secret")
}

// warnNames warns that a server open to anonymous searches does not know the
// names it is reached by, and so which pages are its own.
func (h *host) warnNames() {
	if !h.gate.Local && h.set.ExternalURL == "" && h.set.Anonymous == auth.AnonymousYes {
		h.log.Warn().Msg("anonymous-access without external-url: a page of any site whose name leads here may search, too")
	}
}

// listenError says what to do about an address that cannot be had.
func listenError(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another program listens on %s: choose another address with --listen", address)
	}
	return fmt.Errorf("%w: choose another address with --listen", err)
}

// serve keeps svc up to date until ctx ends, and takes it away from the server
// before it returns.
func (h *host) serve(ctx context.Context, svc *service.Service) (err error) {
	if err := h.announce(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serverfile.Remove(h.set.Data)) }()
	warnGit(h.log)
	warnSymbols(h.log, svc)
	h.warnNames()
	if err := svc.Join(ctx); err != nil {
		return err
	}
	h.live.put = func(set *config.Settings) { h.configure(svc, set) }
	if err := h.live.open(svc.Configured()); err != nil {
		return fmt.Errorf("read configuration of the site: %w", err)
	}
	h.tellSetup(ctx, svc)
	h.backend.open(svc)
	file := &declared{svc: svc, log: h.log, path: h.set.File, live: h.live}
	first, err := h.declare(ctx, file)
	if err != nil && ctx.Err() == nil {
		h.log.Warn().Err(err).Msg("list repositories")
	}
	var syncing sync.WaitGroup
	if h.set.File != "" {
		hangup := make(chan os.Signal, 1)
		signal.Notify(hangup, syscall.SIGHUP)
		defer signal.Stop(hangup)
		syncing.Go(func() { file.follow(ctx, hangup) })
	}
	syncing.Go(func() {
		y := &service.Syncer{
			Service: svc, Interval: h.set.SyncInterval, Stay: true, Watch: true, Log: h.log, Display: h.display,
			Before: func() { file.reread(ctx, false) },
		}
		y.Run(ctx, first, h.backend.ready)
	})
	syncing.Go(func() { h.keepRecent(ctx) })
	syncing.Go(func() { svc.Keep(ctx) })
	syncing.Go(func() { svc.Hosts().Follow(ctx, h.set.SyncInterval) })
	if h.set.Authority != "" {
		syncing.Go(func() { h.gate.KeepCurrent(ctx) })
	}
	syncing.Go(func() {
		h.notifier.Watch(ctx, func() string { return h.summary(svc) }, func(ctx context.Context) error { return h.alive(ctx, svc) })
	})
	h.notifier.Ready()
	<-ctx.Done()
	return h.stop(svc, &syncing)
}

// openService opens the data directory, and names the process that has it if it
// is locked.
func (h *host) openService(ctx context.Context) (*service.Service, error) {
	deadline := time.Now().Add(lockedFor)
	for {
		svc, err := openMigrated(ctx, h.set, service.Options{
			Log: h.log, Symbols: true, History: true, Processors: processors(), Address: h.server.URL(), Ended: h.gate.Recheck, Hidden: h.gate.Hide,
			Observer: &searchWatch{Metrics: h.metrics, tracing: h.tracing, log: h.log, slow: &h.slow, recent: &h.recent},
		})
		if !errors.Is(err, store.ErrLocked) {
			return svc, err
		}
		if f, err := serverfile.Read(h.set.Data); err == nil {
			return nil, fmt.Errorf("data directory %s is served already, at %s by process %d: use that, or give another --data", h.set.Data, f.URL(), f.PID)
		}
		if !time.Now().Before(deadline) {
			return nil, lockedError(h.set.Data)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// announce publishes the server's address to people and to other commands.
func (h *host) announce() error {
	if err := serverfile.Remove(h.set.Data); err != nil {
		return err
	}
	said := "serving"
	if h.watched {
		said = "serving: open this address in a browser" // for who has just started it by hand
	}
	h.log.Info().Str("url", h.server.URL()).Str("data", h.set.Data).Msg(said)
	f := serverfile.File{Address: serverfile.LocalAddress(h.server.LocalAddr()), PID: os.Getpid(), Token: h.token}
	if public := serverfile.LocalAddress(strings.TrimPrefix(h.server.URL(), "http://")); public != f.Address {
		f.Public = public
	}
	return serverfile.Write(h.set.Data, f)
}

// declare records the sources of the command line and of the configuration
// file, and returns those of the command line that have no generation yet.
func (h *host) declare(ctx context.Context, file *declared) ([]string, error) {
	file.start(ctx, h.set.Repositories, h.set.CodeHosts)
	sources := h.sources
	if len(sources)+len(h.set.Repositories)+len(h.set.CodeHosts) == 0 {
		all, err := file.svc.Repositories().List(ctx)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			sources = h.current(ctx)
		}
	}
	var first []string
	for _, src := range sources {
		if r := file.add(ctx, src); r != nil && !r.Indexed() {
			first = append(first, r.Name)
		}
	}
	return first, nil
}

// current is the source to start with when nothing else is known.
func (h *host) current(ctx context.Context) []ingest.Source {
	src, ok := currentRepository(ctx)
	if !ok {
		h.log.Warn().Msg("there are no repositories yet: add some with trawl repo add PATH-OR-URL")
		return nil
	}
	return []ingest.Source{src}
}
