// Package span is how the program tells a tracer what it does without knowing
// one. A tracer is put into a context by whoever has one; below, a piece of work
// begins a span by name and ends it with its error. Where there is no tracer, which
// is the usual case, that costs the look for one.
package span
