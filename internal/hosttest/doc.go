// Package hosttest is a code host for tests. It behaves as the public documentation of
// the API of its kind says, such as GitHub or GitLab. Repositories, tokens and faults
// come in through its methods; lists in pages, conditional answers, limits, redirects of
// renamed repositories, and repositories for git over HTTP go out. Tests of any folder
// and package bench may import it, and nothing else may.
package hosttest
