package mcp

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"

	"github.com/trawlsearch/trawl/query"
)

const (
	// nearLines is how far another line may be whose texts count for a line, and nearPart
	// how much they count.
	nearLines = 3
	nearPart  = 0.4
	// topLevelPart is how much more a line counts that begins with a word or a directive,
	// as definitions do.
	topLevelPart = 0.25
	// linesPerMatch is how many lines of one match count.
	linesPerMatch = linesPerFile
	// textsPerLine is how many different texts of a line count, and textBytes how much of
	// each is compared.
	textsPerLine = 16
	textBytes    = 64
)

// lineMatch is a line of a file with matches.
type lineMatch struct {
	number int // from 0
	// texts are what matched, in lower case, each once.
	texts    []string
	topLevel bool
	score    float64
}

// bestLines are the numbers of the lines of a file with matches that say most, as many
// as are wanted: those with many different texts that matched, on the line and near it,
// of which rare ones count more.
func bestLines(m *query.FileMatch, most int) map[int]bool {
	lines := lineMatches(m)
	if len(lines) > most {
		weigh(lines)
		slices.SortStableFunc(lines, func(a, b lineMatch) int { return cmp.Compare(b.score, a.score) })
		lines = lines[:most]
	}
	chosen := make(map[int]bool, len(lines))
	for _, l := range lines {
		chosen[l.number] = true
	}
	return chosen
}

// lineMatches are the lines that matches begin or go on in, in the order of the file.
func lineMatches(m *query.FileMatch) (lines []lineMatch) {
	for _, c := range m.Chunks {
		rest, number := c.Content, int(c.Start.Line) // what begins with that line
		for _, r := range c.Ranges {
			text := c.Content[r.Start.Offset-c.Start.Offset : r.End.Offset-c.Start.Offset]
			lower := string(bytes.ToLower(text[:min(len(text), textBytes)]))
			for n := int(r.Start.Line); n <= int(r.End.Line) && n < int(r.Start.Line)+linesPerMatch; n++ {
				for ; number < n; number++ {
					rest = rest[bytes.IndexByte(rest, '\n')+1:]
				}
				if last := len(lines) - 1; last < 0 || lines[last].number < n {
					lines = append(lines, lineMatch{number: n, topLevel: topLevel.Match(rest)})
				}
				if l := &lines[len(lines)-1]; l.number == n && len(l.texts) < textsPerLine && !slices.Contains(l.texts, lower) {
					l.texts = append(l.texts, lower)
				}
			}
		}
	}
	return lines
}

// topLevel is how a line begins that is no comment, no bracket and not indented.
var topLevel = regexp.MustCompile(`^[\pL_#@]`)

// weigh scores lines. A text counts by the logarithm of how few of the lines have it.
func weigh(lines []lineMatch) {
	having := map[string]int{}
	for _, l := range lines {
		for _, text := range l.texts {
			having[text]++
		}
	}
	weight := func(text string) float64 { return math.Log1p(float64(len(lines)) / float64(having[text])) }
	for i := range lines {
		l := &lines[i]
		for _, text := range l.texts {
			l.score += weight(text)
		}
		if l.topLevel {
			l.score *= 1 + topLevelPart
		}
		var near []string
		for _, step := range []int{-1, 1} {
			for j := i + step; j >= 0 && j < len(lines) && step*(lines[j].number-l.number) <= nearLines; j += step {
				for _, text := range lines[j].texts {
					if len(near) < textsPerLine && !slices.Contains(l.texts, text) && !slices.Contains(near, text) {
						near = append(near, text)
						l.score += nearPart * weight(text)
					}
				}
			}
		}
	}
}
