// Package githubtest is a server that behaves as the public documentation of GitHub's
// REST API says, for tests. Repositories, tokens and faults come in through its
// methods; lists in pages, conditional answers, limits, redirects of renamed
// repositories, and repositories for git over HTTP go out. Tests of any folder may
// import it, and nothing else may.
package githubtest
