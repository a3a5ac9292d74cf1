// Package fair divides what a server has little of, such as processors and
// memory, among the clients that ask for it. A client and an amount come in; a
// grant goes out, at once or when others have released theirs. The package does
// not know what the amounts are: units of work, bytes, or anything else that can
// be counted.
package fair
