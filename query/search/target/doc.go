// Package target describes what a query searches: the repositories, the revisions
// of each, the documents of a revision in a shard, and the sources that they come
// from. scope fills it in; planning, verifying and reporting read it. It decides
// nothing.
package target
