package compile

// splitCommits returns the search of commits of b behind its other searches.
func (b *Query) splitCommits() []*Query {
	commits, rest := *b, *b
	rest.Commits = nil
	commits.InContent, commits.InPath, commits.InRepositoryNames, commits.Documents, commits.InSymbols = false, false, false, false, false
	if !b.InContent && !b.InPath && !b.InRepositoryNames && !b.InSymbols {
		return []*Query{&commits}
	}
	return append(rest.split(), &commits)
}

// split returns b as the searches it stands for: patterns are tried against
// names of symbols in one of their own, so that no document matches by a mix of
// its names and its text, and against commits in another.
func (b *Query) split() []*Query {
	if b.Commits != nil {
		return b.splitCommits()
	}
	if !b.InSymbols {
		return []*Query{b}
	}
	symbols, rest := *b, *b
	symbols.InContent, symbols.InPath, symbols.InRepositoryNames = false, false, false
	symbols.Documents = b.Tree != nil || len(b.Paths)+len(b.Owners)+len(b.Contributors) > 0
	if !b.InContent && !b.InPath && !b.InRepositoryNames {
		return []*Query{&symbols}
	}
	rest.InSymbols = false
	return []*Query{&rest, &symbols}
}
