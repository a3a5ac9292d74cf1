package syntax

import (
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// phrase returns the text that a keyword query ranks higher where its terms
// stand together: the terms with one space between them. There is none unless
// every pattern is a plain term that files are searched for.
func phrase(b query.Basic) string {
	for _, f := range b.Values("type") {
		if f.Value != "file" && f.Value != "path" {
			return ""
		}
	}
	var terms []string
	switch n := b.Pattern.(type) {
	case *query.Pattern:
		if n.Quoted && plainTerm(n) {
			terms = []string{n.Value}
		}
	case *query.And:
		if terms = plainTerms(n.Children); len(terms) < 2 {
			return ""
		}
	}
	text := strings.Join(terms, " ")
	if len(text) > maxPhraseBytes {
		return ""
	}
	return text
}

// plainTerms returns the values of nodes, nil if one is not a plain term. A
// term without text adds nothing to a phrase.
func plainTerms(nodes []query.Node) []string {
	var terms []string
	for _, n := range nodes {
		p, ok := n.(*query.Pattern)
		if !ok || !plainTerm(p) {
			return nil
		}
		if p.Value != "" {
			terms = append(terms, p.Value)
		}
	}
	return terms
}

func plainTerm(p *query.Pattern) bool { return !p.IsRegexp && !p.FromContent }
