package mcp

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxWords is how many words of a question are searched for at first.
const maxWords = 8

var (
	quotedText = regexp.MustCompile("\"[^\"]{2,100}\"|`[^`]{2,100}`")
	wordText   = regexp.MustCompile(`[\p{L}\p{N}_][\p{L}\p{N}_./-]*`)
)

// untelling are words of questions that say nothing about code.
var untelling = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`a an the this that these those it its is are was were be been being do does did done has have
		had can could will would should may might must i we you they he she me my our your their what which who whom whose where when why how
		and or not no nor but if then than so as at by for from in into of on onto out over to under up with within without about between
		through during before after above below again there here all any both each few more most other some such only own same too very just
		also show find tell explain describe give list look search searching locate please code source file files function functions method
		methods class classes implementation implemented implement implements defined define defines definition handled handle handles
		happens happen used use uses using work works working place part code's located`) {
		out[w] = true
	}
	return out
}()

// tellingWords returns the words of a question that code may have, the most telling
// first.
func tellingWords(question string) []string {
	var words []string
	add := func(w string) {
		if w != "" && !slices.ContainsFunc(words, func(other string) bool { return strings.EqualFold(other, w) }) {
			words = append(words, w)
		}
	}
	rest := quotedText.ReplaceAllStringFunc(question, func(q string) string {
		add(strings.TrimSpace(strings.Map(dropQuotes, q[1:len(q)-1])))
		return " "
	})
	for _, w := range wordText.FindAllString(rest, -1) {
		w = strings.Trim(w, "./-")
		if len(w) < 2 || untelling[strings.ToLower(w)] {
			continue
		}
		if !isName(w) {
			w = stem(strings.ToLower(w))
		}
		add(w)
	}
	slices.SortStableFunc(words, func(a, b string) int { return telling(b) - telling(a) })
	return words[:min(len(words), maxWords)]
}

// dropQuotes drops what would end a quoted pattern.
func dropQuotes(r rune) rune {
	if r == '"' || r == '\\' {
		return -1
	}
	return r
}

// isName reports whether a word looks like a name of code and not of a language.
func isName(w string) bool {
	if strings.ContainsAny(w, "_./0123456789 ") {
		return true
	}
	return strings.ContainsFunc(w[1:], unicode.IsUpper)
}

// telling rates a word: names first, then longer words.
func telling(w string) int {
	if isName(w) {
		return 1000 + len(w)
	}
	return len(w)
}

// stem cuts an ending, so that the beginning finds other forms of the word as well.
func stem(w string) string {
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "s"} {
		if cut, ok := strings.CutSuffix(w, ending); ok && len(cut) >= 4 && !strings.HasSuffix(w, "ss") {
			return cut
		}
	}
	return w
}

// keywordQuery writes words as a query that has no filters and no operators.
func keywordQuery(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + w + `"`
	}
	return strings.Join(quoted, " ")
}
