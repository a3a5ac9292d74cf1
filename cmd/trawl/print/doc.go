// Package print writes the answer of a search for people and scripts. Matches
// come in as the streaming client decodes them; lines like those of grep, or
// the objects as the server sent them, go out. Skipped documents and alerts
// come in at the end, and go out as notes.
//
// It decides nothing about searching and reads only its input.
package print
