package syntax

import (
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// revisions writes rev: onto repo: filters. It keeps what it wrote, since the
// basic queries of one text share most of their filters.
type revisions struct {
	values map[revKey]string
	// bytes is the length of all values.
	bytes int
}

type revKey struct{ name, rev string }

// copied returns filters with the value of rev: behind the name of every repo:
// filter that selects by name, and without the rev: filter itself.
func (r *revisions) copied(filters []query.Filter) []query.Filter {
	rev := ""
	var out []query.Filter
	for _, f := range filters {
		if f.Field != "rev" {
			out = append(out, f)
			continue
		}
		if rev = f.Value; f.Predicate != nil {
			rev = query.AtTime(f.Predicate.Arg)
		}
	}
	if rev == "" {
		return out
	}
	for i, f := range out {
		if f.Field == "repo" && !f.Negated && f.Predicate == nil {
			out[i].Value = r.value(f.Value, rev)
		}
	}
	return out
}

func (r *revisions) value(name, rev string) string {
	key := revKey{name, rev}
	v, ok := r.values[key]
	if !ok {
		v = name + "@" + rev
		r.values[key] = v
		r.bytes += len(v)
	}
	return v
}

// isGlob reports whether a revision stands for all refs of a shape. A lone
// asterisk is a name.
func isGlob(rev string) bool {
	return strings.HasPrefix(rev, "*") && rev != "*" && rev != "*!"
}
