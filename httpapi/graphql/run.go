package graphql

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
)

// Run answers a document for another interface, whose request was admitted for
// budget.AnswerBytes, as if the client of ctx had sent it. Variables hold what JSON
// does. The messages are those that a client may read; an error is one of the request.
func (e *Endpoint) Run(ctx context.Context, base, query string, variables map[string]any) (data json.RawMessage, messages []string, err error) {
	e.prepare()
	open := e.Data()
	if open == nil {
		return nil, nil, &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	text, err := json.Marshal(variables)
	if err != nil {
		return nil, nil, err
	}
	answer, _, err := e.answer(ctx, open, request{Query: query, Variables: variables, variableBytes: len(text)}, nil, base)
	if err != nil {
		return nil, nil, err
	}
	httpapi.WorkOf(ctx).Shrink(int64(budget.AnswerBytes + cap(answer.Data)))
	for _, m := range answer.Errors {
		messages = append(messages, m.Message)
	}
	return answer.Data, messages, nil
}
