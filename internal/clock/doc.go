// Package clock is a time that tests move. The zero Clock stands at the zero time;
// what a test adds to it comes out of Now. Tests of any folder may import it, and
// nothing else may.
package clock
