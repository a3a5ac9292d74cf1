// Package mcp is the server of the Model Context Protocol. A message of an agent
// comes in; the text of a tool, a file or a prompt goes out, within a budget of
// bytes, with what was left out and how to ask for it.
//
// A tool is a struct of arguments and a function. It searches through the searcher of
// the stream and reads files, histories and comparisons through documents of GraphQL,
// so that rights, limits and the order of results are those of these interfaces. The
// package reads neither the store nor git, keeps no credential, and changes nothing.
package mcp
