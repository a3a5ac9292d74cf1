// Package github lists the repositories of GitHub and of GitHub Enterprise. The
// configuration of an external service comes in, in the form that programs for other
// servers send; the repositories of its organisations, users, queries and names go out.
package github
