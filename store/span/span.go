package span

import "context"

// Tracer records pieces of work. It is safe for concurrent use.
type Tracer interface {
	// Start begins a span below that of ctx, called by what is done and to what
	// kind of thing, never by names of users or repositories. The context that it
	// returns is for what is done within; end is called once.
	Start(ctx context.Context, what, detail string) (within context.Context, end func(error))
	// Parent returns the span of ctx as the header traceparent of W3C has it, ""
	// if there is none.
	Parent(ctx context.Context) string
}

type key struct{}

// With returns a context whose work is recorded by t.
func With(ctx context.Context, t Tracer) context.Context { return context.WithValue(ctx, key{}, t) }

// Start begins a span if there is a tracer.
func Start(ctx context.Context, what, detail string) (within context.Context, end func(error)) {
	t, ok := ctx.Value(key{}).(Tracer)
	if !ok {
		return ctx, nothing
	}
	return t.Start(ctx, what, detail)
}

// Parent returns what to give on to other programs, "" if that is nothing.
func Parent(ctx context.Context) string {
	t, ok := ctx.Value(key{}).(Tracer)
	if !ok {
		return ""
	}
	return t.Parent(ctx)
}

func nothing(error) {}
