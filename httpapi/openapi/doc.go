// Package openapi is the description of the HTTP surface, in OpenAPI 3.1: every
// path with its parameters, answers and who may ask, and the shape of every
// event and every result of the stream. It is one file, openapi.json, written
// by hand and served as it is.
//
// Tests keep it true: that of cmd/trawl compares it with the routes of a server,
// that of this package holds what the handlers answer against its schemas.
package openapi
