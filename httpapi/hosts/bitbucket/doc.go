// Package bitbucket lists the repositories of Bitbucket, of both kinds: Bitbucket Cloud,
// and Bitbucket Server or Data Center, whose APIs have little in common. The configuration
// of an external service comes in, in the form that programs for other servers send; the
// repositories of its workspaces, projects, queries and names go out.
package bitbucket
