// Package complete completes queries: a text and a cursor come in, and what may be
// written there comes out, of the names that the asker may see. The language is
// query/syntax's and the names are the store's; nothing is listed here. It also says how
// a query is read, for boxes that show it.
package complete
