// Package admission decides which searches run, and which of their goroutines
// work. A search comes in with the name of its client and leaves with two things:
// a Ticket of a Queue, which bounds the searches that hold memory, and Slots of
// Processors, which bound the goroutines that compute. Both are divided fairly
// among clients. The package knows neither queries nor shards.
package admission
