// Package execute runs the segments of a search. Segments come in one by one, as
// planning makes them; a bounded number of workers runs them side by side; and
// they leave in the order in which they came. Work that is known beforehand and has
// no order is shared among workers. The package knows neither documents nor commits,
// neither limits nor slots: its callers wait for those in the functions that they pass
// in.
package execute
