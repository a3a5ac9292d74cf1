package span_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trawlsearch/trawl/store/span"
)

type recorder struct{ all []string }

func (r *recorder) Start(ctx context.Context, what, detail string) (context.Context, func(error)) {
	return ctx, func(err error) { r.all = append(r.all, what+" "+detail+": "+err.Error()) }
}

func (r *recorder) Parent(context.Context) string { return "00-parent" }

func TestStart(t *testing.T) {
	r := &recorder{}
	ctx := span.With(t.Context(), r)
	_, end := span.Start(ctx, "git", "fetch")
	end(errors.New("no network"))
	if len(r.all) != 1 || r.all[0] != "git fetch: no network" {
		t.Errorf("got %q, want one span with its error", r.all)
	}
	if got := span.Parent(ctx); got != "00-parent" {
		t.Errorf("Parent: got %q, want that of the tracer", got)
	}
}

// Without a tracer nothing happens, and for nothing.
func TestNoTracer(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		within, end := span.Start(ctx, "git", "fetch")
		end(nil)
		if within != ctx || span.Parent(ctx) != "" {
			t.Error("something was started")
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

func BenchmarkNoTracer(b *testing.B) {
	ctx := b.Context()
	for b.Loop() {
		_, end := span.Start(ctx, "git", "fetch")
		end(nil)
	}
}
