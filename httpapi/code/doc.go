// Package code reads what repositories hold, for package graphql and package
// browse. A repository's git directory comes in; its commits, trees and files
// go out, each by its id, and the addresses of their pages. It knows nothing of
// who asks: its callers have found out that they may.
package code
