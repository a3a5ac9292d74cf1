package mcp

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/trawlsearch/trawl/query"
)

const (
	// nearLines is how far another line may be whose texts count for a line, and nearPart
	// how much they count.
	nearLines = 3
	nearPart  = 0.4
	// topLevelPart is how much more a line counts that is not indented, as definitions are.
	topLevelPart = 0.25
	// textsPerLine is how many different texts of a line count, and textBytes how much of
	// each is compared.
	textsPerLine = 16
	textBytes    = 64
)

// hitLine is a line of a file with matches.
type hitLine struct {
	number int // from 0
	// texts are what matched, in lower case, each once.
	texts    []string
	topLevel bool
	score    float64
}

// tellingLines are the numbers of the lines of a file with matches that say most, as many
// as are wanted: those with many different texts that matched, on the line and near it,
// of which rare ones count more.
func tellingLines(m *query.FileMatch, most int) map[int]bool {
	lines := hitLines(m)
	if len(lines) > most {
		weigh(lines)
		slices.SortStableFunc(lines, func(a, b hitLine) int { return cmp.Compare(b.score, a.score) })
		lines = lines[:most]
	}
	chosen := make(map[int]bool, len(lines))
	for _, l := range lines {
		chosen[l.number] = true
	}
	return chosen
}

// hitLines are the lines that matches begin or go on in, in the order of the file.
func hitLines(m *query.FileMatch) (lines []hitLine) {
	for _, c := range m.Chunks {
		rows := bytes.Split(c.Content, []byte("\n"))
		for _, r := range c.Ranges {
			text := c.Content[r.Start.Offset-c.Start.Offset : r.End.Offset-c.Start.Offset]
			lower := string(bytes.ToLower(text[:min(len(text), textBytes)]))
			for n := int(r.Start.Line); n <= int(r.End.Line) && n-int(c.Start.Line) < len(rows); n++ {
				if last := len(lines) - 1; last < 0 || lines[last].number != n {
					row := rows[n-int(c.Start.Line)]
					lines = append(lines, hitLine{number: n, topLevel: len(row) > 0 && row[0] != ' ' && row[0] != '\t'})
				}
				if l := &lines[len(lines)-1]; len(l.texts) < textsPerLine && !slices.Contains(l.texts, lower) {
					l.texts = append(l.texts, lower)
				}
			}
		}
	}
	return lines
}

// weigh scores lines. A text counts by the logarithm of how few of the lines have it.
func weigh(lines []hitLine) {
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
