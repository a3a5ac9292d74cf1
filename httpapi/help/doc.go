// Package help is the pages that errors and other pages link to for whoever
// wants to know more: the query language, the stream and GraphQL. What they say
// of limits comes from the settings of the server; a test asks that every
// filter and event they tell of is one.
package help
