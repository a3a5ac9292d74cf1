package account

import (
	"context"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/redact"
)

// externalServicePreview is the type ExternalServicePreview.
type externalServicePreview struct{ p manage.ServicePreview }

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
	p, err := s.preview(ctx, args.ID, args.Kind, args.Config)
	if err != nil {
		return nil, Told(err)
	}
	return &externalServicePreview{p}, nil
}

// preview asks a service that there is, as it is or with another configuration, or a new
// one.
func (s *Session) preview(ctx context.Context, id *graphql.ID, kind, config *string) (p manage.ServicePreview, err error) {
	switch {
	case id != nil:
		n, err := s.serviceID(*id)
		if err != nil {
			return p, err
		}
		return s.services().Preview(ctx, n, config)
	case kind == nil || config == nil:
		if err := s.MustAdminNow(); err != nil {
			return p, err
		}
		return p, wire.Refuse("give the id of a service, or a kind and a config")
	}
	return s.services().PreviewNew(ctx, *kind, *config)
}
