package answer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
)

// commitWith is a commit with a body in which ranges are marked ‹so›.
func commitWith(isDiff bool, marked string) *query.CommitMatch {
	m := &query.CommitMatch{Repo: &query.Repository{ID: 1, Name: "lab/kiln"}, OID: "c0ffee", IsDiff: isDiff}
	var open query.Location
	var at query.Location
	for _, r := range marked {
		switch r {
		case '‹':
			open = at
			continue
		case '›':
			m.Ranges = append(m.Ranges, query.Range{Start: open, End: at})
			continue
		case '\n':
			at.Line, at.Column = at.Line+1, 0
		default:
			at.Column++
		}
		m.Body += string(r)
		at.Offset = uint32(len(m.Body))
	}
	return m
}

// show prints matches: what they are, and the texts of their ranges.
func show(matches []query.Match) string {
	var out []string
	for _, m := range matches {
		switch m := m.(type) {
		case *query.RepoMatch:
			out = append(out, "repo "+m.Repo.Name)
		case *query.CommitMatch:
			s := fmt.Sprintf("commit %t", m.IsDiff)
			for _, r := range m.Ranges {
				s += fmt.Sprintf(" %d:%s", r.Start.Line, m.Body[r.Start.Offset:r.End.Offset])
			}
			out = append(out, s)
		default:
			out = append(out, fmt.Sprintf("%T", m))
		}
	}
	return strings.Join(out, "; ")
}

func TestSelectFromCommits(t *testing.T) {
	message := commitWith(false, "‹Stoke› the kiln")
	// The second file's path and a line of it look like what they are not.
	changed := commitWith(true, "‹a.go› a.go\n@@ -1,2 +1,2 @@ \n-‹one›\n ctx\n+‹one› ‹two›\n+\\ ‹x› -y\n@@ -1,1 +1,1 @@ \n--‹three›\n++four\n")
	removed := commitWith(true, "a a\n@@ -1,1 +1,0 @@ \n-one\n")
	paths := commitWith(true, "‹a› ‹a›\n@@ -1,1 +1,1 @@ \n-one\n+two\n")
	empty := commitWith(true, "a b\n")
	for _, c := range []struct {
		name, path string
		match      *query.CommitMatch
		want       string
	}{
		// what select: keeps
		{"all", "", message, "commit false 0:Stoke"},
		{"commits", "commit", message, "commit false 0:Stoke"},
		{"diffs among commits", "commit", changed, "commit true 0:a.go 2:one 4:one 4:two 5:x 7:three"},
		{"no message is a diff", "commit.diff", message, ""},
		{"diffs", "commit.diff", changed, "commit true 0:a.go 2:one 4:one 4:two 5:x 7:three"},
		{"repositories", "repo", message, "repo lab/kiln"},
		{"files", "file", message, ""},
		{"content", "content", changed, ""},
		{"symbols", "symbol.function", changed, ""},
		{"owners", "file.owners", changed, ""},

		// highlights on lines of one kind
		{"added", "commit.diff.added", changed, "commit true 4:one 4:two"},
		{"removed", "commit.diff.removed", changed, "commit true 2:one 7:three"},
		{"added of a message", "commit.diff.added", message, ""},
		{"added, highlights on removed lines", "commit.diff.added", commitWith(true, "a a\n@@ -1,1 +1,1 @@ \n-‹one›\n+two\n"), ""},
		{"removed, highlights on added lines", "commit.diff.removed", commitWith(true, "a a\n@@ -1,1 +1,1 @@ \n-one\n+‹two›\n"), ""},

		// no pattern: lines of the kind
		{"added, none", "commit.diff.added", removed, ""},
		{"removed, some", "commit.diff.removed", removed, "commit true"},
		{"added, paths only", "commit.diff.added", paths, "commit true"},
		{"added, no lines", "commit.diff.added", empty, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := converter{seen: map[string]bool{}}
			if c.path != "" {
				s.path = strings.Split(c.path, ".")
			}
			before := show([]query.Match{c.match})
			if got := show(s.convert(nil, c.match)); got != c.want {
				t.Errorf("select:%s of\n%s got  %q\nwant %q", c.path, c.match.Body, got, c.want)
			}
			if after := show([]query.Match{c.match}); after != before {
				t.Errorf("select:%s changed the match from %q to %q", c.path, before, after)
			}
		})
	}
}

// What several queries find counts once.
func TestCommitsAreSentOnce(t *testing.T) {
	for _, c := range []struct {
		name, path    string
		first, second *query.CommitMatch
		want          string
	}{
		{"the same message", "", commitWith(false, "‹a› b"), commitWith(false, "‹a› b"), ""},
		{"a message without a pattern", "", commitWith(false, "a b"), commitWith(false, "a b"), ""},
		{"more of a message", "", commitWith(false, "‹a› b c"), commitWith(false, "‹a› ‹b› c"), "commit false 0:b"},
		{"what overlaps", "", commitWith(false, "‹a b› c"), commitWith(false, "a ‹b c›"), ""},
		{"its diff", "", commitWith(false, "a"), commitWith(true, "a"), "commit true"},
		{"other lines of a diff", "commit.diff", commitWith(true, "‹a› a\n"), commitWith(true, "‹b› b\n"), "commit true 0:b"},
		{"its repository", "repo", commitWith(false, "a"), commitWith(true, "a"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := converter{seen: map[string]bool{}, earlier: newSent()}
			if c.path != "" {
				s.path = strings.Split(c.path, ".")
			}
			for _, m := range s.convert(nil, c.first) {
				s.earlier.add(m)
			}
			if got := show(s.convert(nil, c.second)); got != c.want {
				t.Errorf("select:%s, %q sent, then %q: got %q, want %q", c.path, show([]query.Match{c.first}), show([]query.Match{c.second}), got, c.want)
			}
		})
	}
}
