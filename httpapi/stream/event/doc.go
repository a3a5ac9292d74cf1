// Package event knows the bytes of a stream. Matches, progress, filters and alerts come
// in; server-sent events go out. The encoder makes objects of matches, the writer makes
// events of them and of all else, and a match too large for one event is divided.
// GraphQL, search jobs and exports show matches as the stream does, and use the same code.
//
// The package knows no connection, no request and no search: it is given an Output, and
// says what is to leave together.
package event
