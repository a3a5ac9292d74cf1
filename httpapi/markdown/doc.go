// Package markdown makes HTML of the Markdown of strangers: a text comes in, and what
// of it a page can show without harm goes out. A library parses it, another one drops
// what is not on a list, and links and images are led to this server's pages. Nothing
// is fetched from elsewhere, and no text reaches the page around it.
package markdown
