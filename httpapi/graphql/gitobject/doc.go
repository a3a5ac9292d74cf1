// Package gitobject resolves the types of the schema that are about git:
// repositories, commits, trees, files, refs, comparisons and symbols. A Session
// comes in, made for one request by the endpoint; Repository and what hangs on it
// go out. Files of indexed commits are read from the store, everything else
// through store/git. It knows no query of the schema, and runs a search only
// through the function that it is given.
package gitobject
