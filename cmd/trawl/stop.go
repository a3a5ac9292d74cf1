package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

// How long what is at work has to end when the server stops: open streams, and
// after them what runs in the background.
const (
	closeWithin = 10 * time.Second
	workWithin  = 15 * time.Second
)

// stop ends the server in order: /readyz reports it, new requests are refused,
// streams end with the matches they have, and background work ends. Work that
// does not end in time is left: the store loses nothing by that.
func (h *host) stop(svc *service.Service, working *sync.WaitGroup) error {
	h.log.Info().Msg("stopping")
	h.notifier.Stopping()
	h.server.Drain()
	if delay := h.live.Load().StopDelay; delay > 0 {
		// A second signal ends the process meanwhile.
		time.Sleep(delay)
	}
	svc.Stop()
	err := h.closeServer()
	ctx, cancel := context.WithTimeout(context.Background(), workWithin)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		working.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	if ctx.Err() != nil || svc.Drain(ctx) != nil {
		h.log.Warn().Msg("left work that does not end: nothing that was indexed is lost")
		h.left = true
	}
	return err
}

// closeServer ends the streams, each with its done event, or without one if it
// takes too long.
func (h *host) closeServer() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	err := h.server.Close(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		h.log.Warn().Msg("cut off clients that did not read the end of their answers")
		return nil
	}
	return err
}

// local is the URL by which this machine reaches the server.
func (h *host) local() string {
	return "http://" + serverfile.LocalAddress(h.server.LocalAddr())
}

// alive asks the server and the store for as little as they can do.
func (h *host) alive(ctx context.Context, svc *service.Service) error {
	if _, err := svc.Repositories().List(ctx); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.local()+"/healthz", nil)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server answers %s to /healthz", resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}

// summary is the line for the service manager about the server's work.
func (h *host) summary(svc *service.Service) string {
	s, err := svc.Status(context.Background())
	if err != nil {
		return "serving, but: " + err.Error()
	}
	return atWork(s)
}

// atWork is the line about a status.
func atWork(s admin.Status) string {
	line := fmt.Sprintf("serving %s, %s at work", progress.CountedAs(s.Repositories.Indexed, "repository", "repositories"), progress.CountedAs(s.Searches.AtWork, "search", "searches"))
	if s.Queue.Running != "" {
		line += ", syncing " + s.Queue.Running
	}
	switch {
	case s.Disk.Low:
		line += ", disk nearly full"
	case s.Disk.Stopped != "":
		line += ", indexing has stopped: " + s.Disk.Stopped
	}
	return line
}
