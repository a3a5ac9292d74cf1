// Package monitors runs monitored searches again in repositories that have changed, and
// has new matches delivered. What the store says about a change comes in; firings of
// store/saved and messages of httpapi/notify go out. A monitor searches as the user who
// said where it tells.
//
// A match fires once: what a monitor knows and what it fires are one commit. A firing is
// delivered at least once: it waits until the receiver has taken it, for a day, and a
// process that ends in between delivers it again under the same id.
//
// With several nodes each monitor has one that runs it. Who may see a monitor is for
// callers.
package monitors
