// Package cost counts what a GraphQL document asks for before anything of it
// is run. A document and its variables come in; five numbers go out, and the
// limits they exceed. It knows no schema, opens nothing, and takes time and
// memory in proportion to the length of the document, whatever that says.
package cost
