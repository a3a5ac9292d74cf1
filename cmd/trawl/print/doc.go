// Package print writes the answer of a search for people and scripts. Matches
// come in as the streaming client decodes them; lines like those of grep, or
// the objects as the server sent them, go out. What the search did not look at
// and what it was alarmed by come in at the end, and go out as notes.
//
// It decides nothing about searching and reads nothing but what it is given.
package print
