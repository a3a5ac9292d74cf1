// Package pair looks for two bytes at once, at a distance of each other: the two
// rarest of a literal. Both stand where one of them does a hundredth as often,
// so that little is left to compare, and no distribution of bytes makes it slow.
//
// On amd64 with AVX2 it looks at 32 places at a time, which is as fast as a core
// reads memory; elsewhere at eight, in words of eight bytes.
package pair
