package graphql

import (
	"context"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/graph-gophers/graphql-go/introspection"
	"github.com/graph-gophers/graphql-go/trace/tracer"
)

// watcher counts the fields of answers, and ends one with too many or whose
// credential has ended.
type watcher struct{}

// TraceQuery is for those who trace.
func (watcher) TraceQuery(ctx context.Context, _, _ string, _ map[string]any, _ map[string]*introspection.Type) (context.Context, tracer.QueryFinishFunc) {
	return ctx, func([]*gqlerrors.QueryError) {}
}

// TraceField is called for every field.
func (watcher) TraceField(ctx context.Context, _, typeName, _ string, _ bool, _ map[string]any) (context.Context, tracer.FieldFinishFunc) {
	s := sessionOf(ctx)
	if typeName == "Mutation" {
		s.Rest() // many wait for what is no work of this process
		s.begin()
	} else {
		s.Resume(ctx)
	}
	s.TakeField()
	return ctx, finished
}

func finished(*gqlerrors.QueryError) {}
