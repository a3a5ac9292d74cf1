// Package home fills in the page that people see before they ask: a request comes in;
// what of the server's repositories its asker may see, queries about them that find
// something, and what is being indexed go out. A route tells programs, and the script
// of the page, how far that is.
//
// It knows nothing of searching: its examples follow from the records of repositories.
package home
