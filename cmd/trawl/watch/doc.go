// Package watch says when repositories of this machine change. Names and folders come
// in; the names of those whose refs git has written go out, soon after. It watches the
// folders in which git keeps refs, as many as it may, and reads no refs: a sync finds out
// what has changed. What it cannot watch is found by looking from time to time, which is
// the work of others.
package watch
