// Package gerrit lists the projects of Gerrit. The configuration of an external service
// comes in, in the form that programs for other servers send; all projects that its
// account sees, or those that it names, go out.
package gerrit
