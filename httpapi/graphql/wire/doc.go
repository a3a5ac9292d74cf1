// Package wire has what the types of the schema are made of. An argument comes
// in as an optional value, a scalar, a global id or a cursor; a scalar, a page or
// a Refusal goes out. All resolvers use it. It knows no request, no store and no
// entity, only the kinds that ids name.
package wire
