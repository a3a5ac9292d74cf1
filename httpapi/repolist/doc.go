// Package repolist is the page that lists repositories: a request comes in, and what
// its reader may see of them goes out, page by page. Site admins have another page, to
// change them.
package repolist
