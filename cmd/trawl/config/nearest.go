package config

import "strings"

// nearest returns the word that text was most likely meant to be, "" if it is
// like none of them.
func nearest(text string, words []string) string {
	best, least := "", len(text)/3+2
	for _, w := range words {
		if d := editDistance(normal(text), normal(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// normal takes away what people confuse most: case, and what joins words.
func normal(s string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
}

// editDistance counts the bytes to insert, delete or replace to make b of a.
func editDistance(a, b string) int {
	above := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	row := make([]int, len(b)+1)
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
		}
		above, row = row, above
	}
	return above[len(b)]
}
