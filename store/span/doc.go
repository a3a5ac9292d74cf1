// Package span connects the program to a tracer without knowing one. A caller
// that has a tracer puts it into the context; below, a piece of work begins a
// span by name and ends it with its error. Without a tracer, the usual case, a
// span costs one look into the context.
package span
