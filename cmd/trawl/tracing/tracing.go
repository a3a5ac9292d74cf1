package tracing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/trawlsearch/trawl/store/span"
)

// Tracing sends spans. It implements span.Tracer.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	context  propagation.TraceContext
}

// Wanted reports whether the environment asks for traces: it names a collector
// and does not switch them off.
func Wanted() bool {
	named := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	off := strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(os.Getenv("OTEL_TRACES_EXPORTER"), "none")
	return named && !off
}

// Open begins to send spans if the environment asks for it; else it returns nil.
// failed hears what cannot be sent.
func Open(ctx context.Context, version string, failed func(error)) (*Tracing, error) {
	if !Wanted() {
		return nil, nil
	}
	if err := checkProtocol(); err != nil {
		return nil, err
	}
	// The address, headers, certificates and patience are the exporter's to read,
	// the sampler and the sizes of batches the provider's.
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "trawl"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	// The library has one handler for errors that it cannot return to a caller.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(failed))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	return &Tracing{provider: provider, tracer: provider.Tracer("github.com/trawlsearch/trawl")}, nil
}

// checkProtocol refuses what the exporter does not speak, rather than sending
// what the collector does not understand.
func checkProtocol() error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := os.Getenv(name); p != "" && p != "http/protobuf" {
			return fmt.Errorf("%s: %q is not spoken: use http/protobuf, which collectors take on port 4318", name, p)
		}
	}
	return nil
}

// Close sends what has not been sent, as long as ctx lets it. A nil Tracing has
// nothing to send.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}

// Start implements span.Tracer.
func (t *Tracing) Start(ctx context.Context, what, detail string) (context.Context, func(error)) {
	ctx, s := t.tracer.Start(ctx, strings.TrimSpace(what+" "+detail))
	return ctx, func(err error) { end(s, err) }
}

// end ends a span. It records only the kind of an error: the text may name a
// repository.
func end(s trace.Span, err error) {
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled):
		s.SetStatus(codes.Error, "cancelled")
	case errors.Is(err, context.DeadlineExceeded):
		s.SetStatus(codes.Error, "timed out")
	default:
		s.SetStatus(codes.Error, "failed")
	}
	s.End()
}

// Parent implements span.Tracer.
func (t *Tracing) Parent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	t.context.Inject(ctx, carrier)
	return carrier["traceparent"]
}

var _ span.Tracer = (*Tracing)(nil)
