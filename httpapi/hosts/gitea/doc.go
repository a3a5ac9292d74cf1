// Package gitea lists the repositories of Gitea and of Forgejo, whose API is the same.
// The configuration of an external service comes in; the repositories of its
// organisations, users, queries and names go out.
package gitea
