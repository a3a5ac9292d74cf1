package main

import (
	"context"
	"os"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

// status returns the state of the server, also while the data directory is
// being opened.
func (h *host) status(ctx context.Context) (s admin.Status, err error) {
	if svc := h.backend.service.Load(); svc != nil {
		if s, err = svc.Status(ctx); err != nil {
			return s, err
		}
	}
	b := buildOf()
	s.Version, s.Revision, s.Data = b.version, b.revision, h.set.Data
	s.Serving, s.PID, s.Started = true, os.Getpid(), h.started.UTC()
	s.Memory.Setting = uint64(h.set.Memory)
	s.Waiting = h.server.Unready()
	s.Ready = s.Waiting == ""
	return s, nil
}

// offlineStatus is the status of a data directory that no server has.
func offlineStatus(svc *service.Service) admin.StatusFunc {
	return func(ctx context.Context) (admin.Status, error) {
		s, err := svc.Status(ctx)
		b := buildOf()
		s.Version, s.Revision = b.version, b.revision
		return s, err
	}
}
