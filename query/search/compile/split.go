package compile

// splitCommits returns the search of commits of q behind its other searches.
func (q *Query) splitCommits() []*Query {
	commits, rest := *q, *q
	rest.Commits = nil
	commits.InContent, commits.InPath, commits.InRepositoryNames, commits.Documents, commits.InSymbols = false, false, false, false, false
	if !q.InContent && !q.InPath && !q.InRepositoryNames && !q.InSymbols {
		return []*Query{&commits}
	}
	return append(rest.split(), &commits)
}

// split returns q as the searches it stands for: patterns are tried against
// names of symbols in one of their own, so that no document matches by a mix of
// its names and its text, and against commits in another.
func (q *Query) split() []*Query {
	if q.Commits != nil {
		return q.splitCommits()
	}
	if !q.InSymbols {
		return []*Query{q}
	}
	symbols, rest := *q, *q
	symbols.InContent, symbols.InPath, symbols.InRepositoryNames = false, false, false
	symbols.Documents = q.Tree != nil || len(q.Paths)+len(q.Owners)+len(q.Contributors) > 0
	if !q.InContent && !q.InPath && !q.InRepositoryNames {
		return []*Query{&symbols}
	}
	rest.InSymbols = false
	return []*Query{&rest, &symbols}
}
