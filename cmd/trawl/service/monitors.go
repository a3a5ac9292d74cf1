package service

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/monitors"
	"github.com/trawlsearch/trawl/httpapi/notify"
)

// newMonitors returns what runs monitors.
func (s *Service) newMonitors() *monitors.Runner {
	sender := &notify.Sender{Mail: s.set.Mail, Guard: s.gateway.guard, Hosts: s.set.WebhookHosts, Version: strings.TrimPrefix(program(), "trawl ")}
	return &monitors.Runner{
		Kept: s.Kept(), Searcher: s.searcher, URL: strings.TrimSuffix(s.set.ExternalURL, "/"), Log: s.opts.Log, Mine: s.node.Mine,
		Send: func(ctx context.Context, kind notify.Kind, to string, m notify.Message) error {
			start := time.Now()
			err := sender.Send(ctx, kind, to, m)
			if kind != notify.Email && errors.Is(err, notify.ErrPermanent) {
				s.background.worked(ctx, WorkDeliver, time.Since(start), false, nil) // a wrong address is for its user to mend
			} else {
				s.background.worked(ctx, WorkDeliver, time.Since(start), true, err)
			}
			return err
		},
	}
}
