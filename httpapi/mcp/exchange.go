package mcp

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
)

// exchange is one HTTP request and the calls in its body. Its calls run one after the
// other, as they share the admission of the request, and none outlives the request.
type exchange struct {
	// ctx is that of the request: it has the actor, and ends with the credential.
	ctx    context.Context
	cancel context.CancelFunc
	// base is how the client reaches the server.
	base  string
	trace *httpapi.RequestTrace

	mu   sync.Mutex // held by the call that runs; guards over
	over bool
}

// exchangeKey is where an exchange stands in the extra values of the SDK's requests.
const exchangeKey = "exchange"

// end ends the calls that run and waits for them; later ones are refused.
func (x *exchange) end() {
	x.cancel()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
}

// owner names the credential that an actor has shown. A session is its owner's.
func owner(a *auth.Actor) string { return a.ClientKey() + " " + a.Author().Via }

// withExchange hands an exchange to the SDK, which passes on what stands behind a bearer
// token with each call. The SDK learns the owner and no credential.
func withExchange(x *exchange, next http.Handler) http.Handler {
	verify := func(context.Context, string, *http.Request) (*sdkauth.TokenInfo, error) {
		return &sdkauth.TokenInfo{UserID: owner(auth.From(x.ctx)), Extra: map[string]any{exchangeKey: x}}, nil
	}
	h := sdkauth.RequireBearerToken(verify, &sdkauth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in := r.Clone(x.ctx)
		in.Header.Set("Authorization", "Bearer admitted")
		in.Header.Del("Cookie")
		in.Header.Del(auth.OperatorHeader)
		h.ServeHTTP(w, in)
	})
}

// exchangeOf returns the exchange of a call, nil for one that no request made.
func exchangeOf(req mcp.Request) *exchange {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	x, _ := extra.TokenInfo.Extra[exchangeKey].(*exchange)
	return x
}

// callContext is the context of a call. It ends with the request or with the call,
// whichever is first, and has the values of the request before those of the call, which
// in a session are those of its first request.
type callContext struct {
	context.Context
	call context.Context
}

// Value implements context.Context.
func (c *callContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.call.Value(key)
}

type callKey struct{}

// inExchange is what each call passes: it runs in the context of its request, alone, and
// its panic ends no other. What a tool says is bounded, also where the SDK says it.
func (e *Endpoint) inExchange(next mcp.MethodHandler) mcp.MethodHandler {
	return func(call context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		x := exchangeOf(req)
		if x == nil {
			return next(call, method, req) // of the SDK itself
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.over {
			return nil, context.Canceled
		}
		if method == "subscriptions/listen" {
			// It would hold the admission of its request, and nothing is ever told by it.
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is nothing to subscribe to"}
		}
		ctx, cancel := context.WithCancel(x.ctx)
		defer cancel()
		defer context.AfterFunc(call, cancel)()
		ctx = context.WithValue(&callContext{ctx, call}, callKey{}, x)
		defer func() {
			if v := recover(); v != nil {
				zerolog.Ctx(ctx).Error().Str("method", method).Err(fmt.Errorf("panic: %v\n%s", v, debug.Stack())).Msg("answer mcp call")
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: internalError}
			}
		}()
		res, err = next(ctx, method, req)
		if tool, ok := res.(*mcp.CallToolResult); ok && tool != nil && tool.IsError {
			e.explainErrors(tool, req)
		}
		return res, err
	}
}
