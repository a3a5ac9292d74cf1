// Package code reads the contents of repositories, for package graphql and
// package browse. A repository's git directory comes in; its commits, trees and
// files go out, each by its id, and the addresses of their pages. It knows
// nothing of users: its callers have checked that the user may read.
package code
