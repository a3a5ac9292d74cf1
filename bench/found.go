package bench

import (
	"encoding/json"
	"fmt"
)

// found has the matches of one answer.
type found struct {
	// content are the lines of matches in text.
	content LineSet
	// named are the paths of matches by path alone.
	named LineSet
	// repositories are the names of repositories seen.
	repositories map[string]bool
}

func newFound() *found {
	return &found{LineSet{}, LineSet{}, map[string]bool{}}
}

// wireMatch is the part of a match object that the harness looks at.
type wireMatch struct {
	Type         string `json:"type"`
	Path         string `json:"path"`
	Repository   string `json:"repository"`
	ChunkMatches []struct {
		Content string `json:"content"`
		Ranges  []struct {
			Start wireLocation `json:"start"`
			End   wireLocation `json:"end"`
		} `json:"ranges"`
	} `json:"chunkMatches"`
}

type wireLocation struct {
	Line   uint32 `json:"line"`
	Column uint32 `json:"column"`
}

// add reads the data of one matches event.
func (f *found) add(data []byte) error {
	var matches []wireMatch
	if err := json.Unmarshal(data, &matches); err != nil {
		return fmt.Errorf("decode matches %.200q: %w", data, err)
	}
	for _, m := range matches {
		f.repositories[m.Repository] = true
		switch m.Type {
		case "content":
			f.addRanges(m)
		case "path":
			f.named.Add(m.Path, 0)
		}
	}
	return nil
}

// addRanges adds the lines that a match touches. A range that ends at column 0
// ends with the newline before it and does not touch that line.
func (f *found) addRanges(m wireMatch) {
	for _, chunk := range m.ChunkMatches {
		for _, r := range chunk.Ranges {
			last := r.End.Line
			if r.End.Column == 0 && last > r.Start.Line {
				last--
			}
			for line := r.Start.Line; line <= last; line++ {
				f.content.Add(m.Path, line+1)
			}
		}
	}
}

// in returns the part of the answer that scope compares.
func (f *found) in(scope Scope) LineSet {
	switch scope {
	case Lines:
		return f.content
	case Files:
		// select:file turns matches in text into matches by path.
		all := f.content.Paths()
		for path := range f.named {
			all.Add(path, 0)
		}
		return all
	case Paths:
		return f.named
	}
	return nil
}
