// Package searchtest has searches that tests script, and matches for them to find. A
// script and its outcome come in; a search that httpapi can run goes out. It knows no
// store and no server. Tests may import it, and nothing else may.
package searchtest
