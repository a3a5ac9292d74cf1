// Package lru keeps the values that were used last. Values come in with a size;
// those that fit the size of the cache go out by key. task and scope keep what git
// answers in such caches.
package lru
