// Package hooks takes webhooks of code hosts. A request whose signature is right comes
// in; which repositories are synced, and whether their host is asked what it lists, goes
// out. Everyone may send anything to it, so it reads little, answers the same for all
// that is not signed, and has nothing done twice for what comes twice.
package hooks
