package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/redact"
)

// maxErrors is how many errors one answer tells.
const maxErrors = 1000

// What clients learn of an error that is not theirs.
const (
	internalError = "internal error"
	outOfTime     = "the request took too long"
	// busyAfterwards is told of a document that has changed something.
	busyAfterwards = "what is to be changed was, as far as nothing else is said; the server is too busy for the answer"
	cutShort       = "the request was ended before it was answered"
	sourceGone     = "the git repository behind this one cannot be found, so only what is indexed can be read"
	sourceComing   = "the git repository behind this one is still being fetched: try again in a few seconds"
	gitBusy        = "git is busy with other requests: try again in a few seconds"
	gitTooCostly   = "this takes more of git's memory or time than one request may have"
)

// encode writes an answer, in pieces: the data may be large. Errors stand before
// the data, and neither stands there empty: clients take any list of errors for a
// failure.
func encode(a *graphql.Response) ([][]byte, error) {
	out := []byte{'{'}
	if len(a.Errors) > 0 {
		errs, err := json.Marshal(a.Errors)
		if err != nil {
			return nil, fmt.Errorf("encode errors: %w", err)
		}
		out = append(append(out, `"errors":`...), errs...)
	}
	if len(a.Data) > 0 {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `"data":`...)
	}
	return [][]byte{out, a.Data, []byte("}\n")}, nil
}

// conceal takes out of an answer what clients need not know, and logs it.
// Fields are answered side by side; their errors are put in one order.
func conceal(ctx context.Context, a *graphql.Response) {
	a.Errors = a.Errors[:min(len(a.Errors), maxErrors)]
	slices.SortStableFunc(a.Errors, func(a, b *gqlerrors.QueryError) int {
		return strings.Compare(fmt.Sprint(a.Path...), fmt.Sprint(b.Path...))
	})
	for _, e := range a.Errors {
		var known *wire.Refusal
		cause := e.ResolverError
		if cause == nil && e.Path == nil {
			cause = ctx.Err() // which the library tells as it is
		}
		switch {
		case cause == nil || errors.As(cause, &known):
			e.Message = redact.Text(e.Message)
		case errors.Is(cause, context.DeadlineExceeded):
			e.Message = outOfTime
		case errors.Is(cause, context.Canceled):
			e.Message = cutShort
		case errors.Is(cause, store.ErrFetching):
			e.Message = sourceComing
		case errors.Is(cause, git.ErrNotRepository):
			zerolog.Ctx(ctx).Warn().Err(cause).Interface("path", e.Path).Msg("answer graphql field")
			e.Message = sourceGone
		case errors.Is(cause, git.ErrBusy):
			e.Message = gitBusy
		case errors.Is(cause, git.ErrTooCostly):
			e.Message = gitTooCostly
		default:
			zerolog.Ctx(ctx).Error().Err(cause).Interface("path", e.Path).Msg("answer graphql field")
			e.Message = internalError
		}
	}
}

// failed is an answer without data.
func failed(message string, line, column int) *graphql.Response {
	e := &gqlerrors.QueryError{Message: message}
	if line > 0 {
		e.Locations = []gqlerrors.Location{{Line: line, Column: column}}
	}
	return &graphql.Response{Errors: []*gqlerrors.QueryError{e}}
}

// overLimit is the answer to a document that asks for too much. Its form is
// part of the interface.
func overLimit(violations []cost.Violation, docs string) *graphql.Response {
	out := &graphql.Response{}
	for _, v := range violations {
		out.Errors = append(out.Errors, &gqlerrors.QueryError{
			Message: fmt.Sprintf("Query exceeds maximum %s limit", v.Type),
			Extensions: map[string]any{
				"code": "ErrQueryComplexityLimitExceeded", "type": v.Type, "limit": v.Limit, "actual": v.Actual, "docs_url": docs,
			},
		})
	}
	return out
}

// panicLog takes what graphql-go reports of a resolver that panics.
type panicLog struct{}

// LogPanic writes a panic to the log of its request.
func (panicLog) LogPanic(ctx context.Context, value any) {
	zerolog.Ctx(ctx).Error().Stack().Interface("panic", value).Bytes("stack", stack()).Msg("resolver panicked")
}
