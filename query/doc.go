// Package query holds the types a search is made of: the syntax tree that
// query text becomes, and the matches that come out. Text enters through
// query/syntax, which parses and validates it into a Query; query/plan turns a
// tree into posting-list work; query/match decides what a document's text
// holds; query/search runs the whole and sends matches through a Sink.
//
// The package itself runs nothing. It knows neither HTTP nor Pebble nor how a
// match is shown to a person.
package query
