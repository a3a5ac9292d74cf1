// Package jobs runs searches over everything in the background. A queued job of
// store/saved comes in; it is searched repository by repository as its creator
// would, and what each holds is committed as lines of JSON with the mark that
// it is done. A process that ends in the middle loses the repository at hand
// and no more.
//
// One job runs at a time, the oldest first. Who may see a job is for callers.
package jobs
