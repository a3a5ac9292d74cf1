package complete

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/lang"
)

const (
	// mostCounted is of how many repositories the languages are counted, those that come first.
	mostCounted = 500
	// countTime bounds counting those that are not known: the next letter finds them counted.
	countTime = 20 * time.Millisecond
)

// languages are those that what is written may name, in this order: the one that it names,
// those of repositories that the asker may see, and all others. Among the same, names that begin
// with it come before aliases that do, and before what only contains it; then the language with
// most text comes first.
func languages(text string, n names, make func(name string) Item) (out []Item) {
	written := strings.ToLower(text)
	exact, _ := lang.Lookup(text)
	bytes := n.languageBytes()
	type candidate struct {
		name    string
		likened int
	}
	var all []candidate
	for _, name := range lang.Names() {
		if likened := likeness(name, written); likened > 0 {
			all = append(all, candidate{name, likened})
		}
	}
	last := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(last(a.name != exact), last(b.name != exact)), cmp.Compare(last(bytes[a.name] == 0), last(bytes[b.name] == 0)),
			cmp.Compare(b.likened, a.likened), cmp.Compare(bytes[b.name], bytes[a.name]))
	})
	for _, c := range all[:min(len(all), mostItems)] {
		out = append(out, make(c.name))
	}
	return out
}

// likeness is more for a language whose name begins with what is written than for one with an
// alias that does, less for a name that contains it, and 0 for all others.
func likeness(name, written string) int {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(lower, written):
		return 3
	case slices.ContainsFunc(lang.Aliases(name), func(alias string) bool {
		return strings.HasPrefix(alias, strings.ReplaceAll(written, " ", "_"))
	}):
		return 2
	case strings.Contains(lower, written):
		return 1
	}
	return 0
}

// languageBytes counts the text in each language of the repositories that come first.
func (n names) languageBytes() map[string]int64 {
	out := map[string]int64{}
	if n.languages == nil {
		return out
	}
	counted := 0
	n.each(func(r *store.Repository) bool {
		for _, share := range n.languages(r) {
			out[share.Name] += share.Bytes
		}
		counted++
		return counted < mostCounted
	})
	return out
}

// countWithin returns what counts the languages of a repository, or returns nothing once countTime is
// over. What was counted before takes no time, and a count that was begun is finished.
func countWithin(counts *code.Languages, sn *store.Snapshot) func(r *store.Repository) []code.LanguageShare {
	until := time.Now().Add(countTime)
	return func(r *store.Repository) []code.LanguageShare {
		if time.Now().After(until) {
			return nil
		}
		shares, err := counts.Of(sn, r)
		if err != nil {
			return nil // the order is as good as it can be
		}
		return shares
	}
}
