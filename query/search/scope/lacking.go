package scope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
)

// lacking are revisions that repositories do not have, in the order they came.
type lacking struct {
	repositories []string
	revs         map[string][]string
}

func (l *lacking) add(repository string, revs ...string) {
	if l.revs == nil {
		l.revs = map[string][]string{}
	}
	if _, known := l.revs[repository]; !known {
		l.repositories = append(l.repositories, repository)
	}
	for _, rev := range revs {
		if !slices.Contains(l.revs[repository], rev) {
			l.revs[repository] = append(l.revs[repository], rev)
		}
	}
}

// alert names them; it is nil if there are none.
func (l *lacking) alert() *query.Alert {
	if len(l.repositories) == 0 {
		return nil
	}
	a := &query.Alert{Title: "Some repositories could not be searched"}
	name := l.repositories[0]
	switch revs := l.revs[name]; {
	case len(l.repositories) == 1 && len(revs) == 1:
		a.Description = fmt.Sprintf("The repository %s matched by your repo: filter could not be searched because it does not contain the revision %q.",
			name, revs[0])
	case len(l.repositories) == 1:
		a.Description = fmt.Sprintf("The repository %s matched by your repo: filter could not be searched because it has multiple specified revisions: @%s.",
			name, strings.Join(revs, ","))
	default:
		var b strings.Builder
		fmt.Fprintf(&b, "%d repositories matched by your repo: filter could not be searched because the following revisions do not exist, "+
			"or differ but were specified for the same repository:", len(l.repositories))
		for i, name := range l.repositories {
			if i == report.MaxNamed {
				b.WriteString("\n* ...")
				break
			}
			b.WriteString("\n* " + name + "@" + strings.Join(l.revs[name], ","))
		}
		a.Description = b.String()
	}
	return a
}

// invalidRevisionAlert is for a text that can be no revision.
func invalidRevisionAlert(rev string) *query.Alert {
	return &query.Alert{
		Title: "Invalid revision syntax",
		Description: fmt.Sprintf("We don't know how to interpret the revision (%s) you specified. "+
			"Learn more about the revision syntax in our documentation: https://git-scm.com/docs/gitrevisions", strings.TrimSuffix(rev, "^0")),
	}
}
