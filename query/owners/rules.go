package owners

import (
	"slices"
	"strings"
)

// Rules are the lines of a CODEOWNERS file. They are safe for concurrent use.
type Rules struct{ sections [][]rule }

// rule is one line: who owns the paths that match.
type rule struct {
	pattern pattern
	owners  []string
}

// MaxBytes is the size of a file up to which it is read. A larger one is no
// list that people keep.
const MaxBytes = 3 << 20

// Parse reads the text of a CODEOWNERS file. Lines that make no sense are left
// out, as the users of a search cannot mend them.
func Parse(text string) *Rules {
	r := &Rules{}
	if len(text) > MaxBytes {
		return r
	}
	var section []rule
	var inherited []string
	for line := range strings.Lines(text) {
		words := fields(line)
		switch {
		case len(words) == 0:
			continue
		case isSection(line):
			r.add(section)
			section, inherited = nil, sectionOwners(line)
			continue
		}
		p, ok := newPattern(words[0])
		if !ok {
			continue
		}
		owners := words[1:]
		if len(owners) == 0 {
			owners = inherited
		}
		section = append(section, rule{p, owners})
	}
	r.add(section)
	return r
}

func (r *Rules) add(section []rule) {
	if len(section) > 0 {
		r.sections = append(r.sections, section)
	}
}

// Owners returns who owns a path, once each and in the order of the file.
func (r *Rules) Owners(path string) []string {
	var out []string
	elements := strings.Split(path, "/")
	for _, section := range r.sections {
		for _, rule := range slices.Backward(section) {
			if !rule.pattern.matches(elements) {
				continue
			}
			for _, o := range rule.owners {
				if !slices.Contains(out, o) {
					out = append(out, o)
				}
			}
			break
		}
	}
	return out
}

// Split takes an owner apart: @name is the handle of a person, @group/name that
// of a team, and what has an @ further on is an e-mail address.
func Split(owner string) (handle, email string, isTeam bool) {
	handle, marked := strings.CutPrefix(owner, "@")
	if !marked && strings.Contains(owner, "@") {
		return "", owner, false
	}
	return handle, "", strings.Contains(handle, "/")
}

// Is reports whether a person who types name means owner: the letters count in
// either case, and a handle may be typed without its @.
func Is(owner, name string) bool {
	return strings.EqualFold(strings.TrimPrefix(owner, "@"), strings.TrimPrefix(name, "@"))
}

// fields splits a line at spaces that no backslash stands before, up to a
// word that begins a comment.
func fields(line string) []string {
	var words []string
	start := -1
	for i := 0; i <= len(line); i++ {
		end := i == len(line) || strings.IndexByte(" \t\r\n", line[i]) >= 0
		switch {
		case end && start >= 0:
			words = append(words, line[start:i])
			start = -1
		case end:
		case start < 0 && line[i] == '#':
			return words
		case start < 0:
			start = i
		}
		if !end && line[i] == '\\' {
			i++
		}
	}
	if start >= 0 {
		words = append(words, line[start:])
	}
	return words
}

// isSection distinguishes [Name] and ^[Name] from a pattern that begins with a
// bracket: a section's name ends in one, alone or before a number of approvals
// and owners.
func isSection(line string) bool {
	line = strings.TrimPrefix(strings.TrimSpace(line), "^")
	_, rest, closed := strings.Cut(line, "]")
	return strings.HasPrefix(line, "[") && closed && (rest == "" || strings.ContainsAny(rest[:1], " \t["))
}

// sectionOwners returns what stands behind the name and the number.
func sectionOwners(line string) []string {
	_, rest, _ := strings.Cut(line, "]")
	if strings.HasPrefix(rest, "[") {
		_, rest, _ = strings.Cut(rest, "]")
	}
	return fields(rest)
}
