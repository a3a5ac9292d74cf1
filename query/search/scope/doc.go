// Package scope finds what queries are about. Compiled queries come in; the
// repositories that they select go out, with the revisions of each, the files
// of commits that are not indexed, the rules of owners and the paths of
// contributors. Predicates on files search documents. Repositories that the
// user may not see are treated as missing.
package scope
