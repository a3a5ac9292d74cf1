package lang

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-enry/go-enry/v2/data"
)

// Lookup returns the language that a lang: value names. The value is a
// linguist language name or alias in any case, with spaces or underscores;
// anything from the first comma on is ignored. ok is false for a value that
// names no language.
func Lookup(value string) (name string, ok bool) {
	value, _, _ = strings.Cut(value, ",")
	key := strings.ToLower(strings.ReplaceAll(value, " ", "_"))
	if name, ok = data.LanguageByAliasMap[key]; ok {
		return name, true
	}
	name, ok = extraAliases[key]
	return name, ok
}

// IsProse reports whether a language is text for people, such as Markdown.
func IsProse(name string) bool {
	return data.TypeForString("prose") == data.Type(data.LanguagesType[name])
}

// Aliases returns the other values of lang: that name a language, in lower case and sorted, such
// as golang for Go. Those that a name becomes with its spaces as underscores are not among them.
// The slice is shared: the caller must not change it.
func Aliases(name string) []string { return allAliases()[name] }

var allAliases = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, m := range []map[string]string{data.LanguageByAliasMap, extraAliases} {
		for alias, name := range m {
			if alias != strings.ToLower(strings.ReplaceAll(name, " ", "_")) {
				all[name] = append(all[name], alias)
			}
		}
	}
	for _, aliases := range all {
		slices.Sort(aliases)
	}
	return all
})

// Names returns the name of every language Lookup knows, sorted. The slice is
// shared: the caller must not change it.
func Names() []string { return allNames() }

var allNames = sync.OnceValue(func() []string {
	var names []string
	for _, m := range []map[string]string{data.LanguageByAliasMap, extraAliases} {
		for _, name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
})
