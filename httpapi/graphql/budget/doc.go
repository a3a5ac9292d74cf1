// Package budget is what one answer may take of the server: memory, processor
// time, fields, text, searches and git commands. Resolvers take before they read,
// and an answer that takes too much ends. It knows no schema and no entity; what a
// document asks for is counted by package cost, before it runs.
package budget
