package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// declared are the repositories, code hosts and settings of the configuration file,
// followed while a server runs.
type declared struct {
	svc *service.Service
	log zerolog.Logger
	// path is that of the file, "" if there is none.
	path string
	// live are the settings, which the file is a part of.
	live *liveSettings

	mu sync.Mutex // one look at a time; guards text and failed
	// text is the file as it was last applied or refused, failed why it could
	// not be read.
	text   []byte
	failed string
}

// reread reads the file and applies it if it has changed, or if again is set.
// An invalid file is logged once and changes nothing.
func (d *declared) reread(ctx context.Context, again bool) {
	if d.path == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	text, err := os.ReadFile(d.path)
	if err != nil {
		if again || err.Error() != d.failed {
			d.refuse(err)
		}
		d.failed = err.Error()
		return
	}
	d.failed = ""
	if !again && bytes.Equal(text, d.text) {
		return
	}
	d.text = text
	file, err := config.ParseFile(d.path, text)
	if err == nil {
		err = d.live.setFile(file)
	}
	if err != nil {
		d.refuse(err)
		return
	}
	d.apply(ctx, file.Repositories)
	d.hosts(file.CodeHosts)
	d.log.Info().Int("repositories", len(file.Repositories)).Msg("configuration file read again")
}

// refuse tells that the file is not in force as it is now.
func (d *declared) refuse(err error) {
	d.live.setProblem(err)
	d.log.Warn().Err(err).Msg("read configuration file, what it said stays")
}

// start applies what the file said when the server started.
func (d *declared) start(ctx context.Context, repos []config.Repository, codeHosts []config.CodeHost) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// An error here shows at the next look, which then reads the file again.
	if d.path != "" {
		d.text, _ = os.ReadFile(d.path)
	}
	d.apply(ctx, repos)
	d.hosts(codeHosts)
}

func (d *declared) apply(ctx context.Context, repos []config.Repository) {
	d.svc.Registry().Declare(config.Readers(repos))
	for _, r := range repos {
		rec := d.add(ctx, r.Source)
		if rec == nil {
			continue
		}
		if r.Readers != nil {
			d.hide(rec.Name, r.Readers)
		}
		if r.Facts.Empty() {
			continue
		}
		if _, err := d.svc.Repositories().ChangeFacts(ctx, r.Source.Name, r.Facts); err != nil {
			d.log.Warn().Str("repo", r.Source.Name).Err(err).Msg("change facts")
		}
	}
}

// hosts declares the code hosts of the file.
func (d *declared) hosts(all []config.CodeHost) {
	if err := d.svc.Hosts().Declare(all); err != nil {
		d.log.Warn().Str("err", redact.Text(err.Error())).Msg("declare code hosts")
	}
}

// hide sets the readers of a repository.
func (d *declared) hide(name string, readers []string) {
	pins, err := d.svc.Registry().DeclareReaders(identity.Operator, name, readers)
	if err != nil {
		d.log.Warn().Str("repo", name).Err(err).Msg("read readers, nobody may see the repository until they are right")
	}
	for _, p := range pins {
		if p.State != identity.PinInForce {
			d.log.Warn().Str("repo", name).Str("reader", p.Reader).Msg("readers: " + p.String())
		}
	}
}

// sameReaders reports whether two lists name the same readers.
func sameReaders(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// add records a source, and returns nil if that failed.
func (d *declared) add(ctx context.Context, src ingest.Source) *store.Repository {
	r, err := d.svc.Repositories().Declare(ctx, src)
	if err != nil {
		d.log.Warn().Str("repo", src.Name).Str("err", redact.About(err.Error(), src.Location)).Msg("add repository")
		return nil
	}
	return r
}

// follow rereads the file at each signal until ctx ends.
func (d *declared) follow(ctx context.Context, hangup <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			d.reread(ctx, true)
		}
	}
}
