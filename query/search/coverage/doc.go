// Package coverage counts what a search looks at. Plans and verified segments come
// in; for each repository and revision the numbers go out of what was searched and
// what was not, and why. The report and the trace of a search show them.
package coverage
