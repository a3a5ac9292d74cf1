// Package gitlab lists the repositories of GitLab, which calls them projects. The
// configuration of an external service comes in, in the form that programs for other
// servers send; the projects of its groups, users, queries and names go out.
package gitlab
