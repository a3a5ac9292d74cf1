// Package service is an open data directory at work: the store, the indexer
// that changes it and the searcher that reads it. Settings come in; searches,
// and changes to the list of repositories, are answered over HTTP handlers; a
// Syncer keeps the repositories up to their sources. trawl serve puts a port in
// front of it, the other commands call the handler in the same process.
//
// Service makes the parts, each given what it needs and none the Service: Repositories,
// Upkeep, DiskMonitor, Checker, and those of packages backups and hostsync. Callers use
// the parts. The Syncer alone is given the Service.
//
// It knows nothing of command lines, and prints nothing.
package service
