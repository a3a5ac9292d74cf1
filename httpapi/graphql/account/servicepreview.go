package account

import (
	"context"
	"errors"
	"time"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// ServicePreview is what asking a service would change, by the names of repositories.
type ServicePreview struct {
	Added, Renamed, Changed, Hidden, Removed []string
	// Warnings describe what cannot be taken or read.
	Warnings []string
}

// previewTimeout is how long a host may take for a preview.
const previewTimeout = time.Minute

// externalServicePreview is the type ExternalServicePreview.
type externalServicePreview struct{ p ServicePreview }

// previewNames is the type ExternalServicePreviewNames.
type previewNames struct{ all []string }

func (n previewNames) TotalCount() int32 { return wire.Int32(len(n.all)) }
func (n previewNames) Names() []string {
	out := make([]string, 0, min(len(n.all), cost.MaxServices))
	for _, name := range n.all[:min(len(n.all), cost.MaxServices)] {
		out = append(out, redact.Text(name))
	}
	return out
}

func (e externalServicePreview) Added() previewNames    { return previewNames{e.p.Added} }
func (e externalServicePreview) Renamed() previewNames  { return previewNames{e.p.Renamed} }
func (e externalServicePreview) Changed() previewNames  { return previewNames{e.p.Changed} }
func (e externalServicePreview) Hidden() previewNames   { return previewNames{e.p.Hidden} }
func (e externalServicePreview) Removed() previewNames  { return previewNames{e.p.Removed} }
func (e externalServicePreview) Warnings() previewNames { return previewNames{e.p.Warnings} }

// PreviewExternalService asks a service what it has, and changes nothing.
func (*Root) PreviewExternalService(ctx context.Context, args struct {
	ID           *graphql.ID
	Kind, Config *string
}) (*externalServicePreview, error) {
	s := Of(ctx)
	if err := s.MustAdminNow(); err != nil {
		return nil, err
	}
	v, err := s.previewed(ctx, args.ID, args.Kind, args.Config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, previewTimeout)
	defer cancel()
	p, err := s.Services.PreviewService(ctx, v)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, wire.Refuse("the host took longer than %s", previewTimeout)
	case err != nil:
		return nil, wire.Permit(errors.New(redact.Text(err.Error())))
	}
	return &externalServicePreview{p}, nil
}

// previewed returns the service to preview: one that there is, as it is or with another
// configuration, or a new one.
func (s *Session) previewed(ctx context.Context, id *graphql.ID, kind, config *string) (*saved.Service, error) {
	switch {
	case id != nil:
		found, err := s.serviceMutation(ctx, *id)
		if err != nil {
			return nil, err
		}
		v := *found.v
		if config == nil {
			return &v, nil
		}
		v.Declared = ""
		return &v, s.setServiceConfig(&v, *config)
	case kind == nil || config == nil:
		return nil, wire.Refuse("give the id of a service, or a kind and a config")
	}
	v := &saved.Service{Kind: *kind}
	if _, err := hosts.ParseConfig(*kind, *config); err != nil {
		return nil, wire.Permit(err)
	}
	if _, err := hosts.Restore(*config, "{}"); err != nil {
		return nil, wire.Permit(err)
	}
	v.Config = *config // it is kept for as long as this request
	return v, nil
}
