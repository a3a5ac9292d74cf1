package config

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest returns the word that text was most likely meant to be, "" if it is
// like none of them.
func nearest(text string, words []string) string {
	best, least := "", len(text)/3+2
	for _, w := range words {
		if d := levenshtein.ComputeDistance(normal(text), normal(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// normal takes away what people confuse most: case, and what joins words.
func normal(s string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
}
