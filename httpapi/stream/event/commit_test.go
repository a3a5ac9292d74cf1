package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/diff"
	"github.com/trawlsearch/trawl/query/match"
)

// stokedAt is when the commit of these tests was made, commitNow when it is
// shown.
var (
	stokedAt  = time.Date(2031, 1, 31, 10, 30, 0, 600e6, time.FixedZone("", 3600))
	commitNow = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
)

func stoke(message string) *query.CommitMatch {
	return &query.CommitMatch{
		Repo: kiln, OID: kilnCommit, Message: message, Body: message,
		Author:    query.Signature{Name: "Ada <Muster>", Email: "ada@example.org", Date: stokedAt},
		Committer: query.Signature{Name: "Bo", Email: "bo@example.org", Date: stokedAt.Add(72 * time.Second)},
	}
}

// in is a range of body between two texts that occur in it once.
func in(body, text string) query.Range {
	start := strings.Index(body, text)
	return query.Range{Start: locate(body, start), End: locate(body, start+len(text))}
}

func locate(body string, offset int) query.Location {
	before := body[:offset]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return at(uint32(offset), uint32(strings.Count(before, "\n")), uint32(utf8.RuneCountInString(line)))
}

func TestCommitJSON(t *testing.T) {
	e := Encoder{Now: func() time.Time { return commitNow }}
	const address = "/git.example.org/lab/kiln/-/commit/" + kilnCommit
	head := func(subject, message string) string {
		return `{"type":"commit","label":"[lab/kiln](/git.example.org/lab/kiln) › [Ada \u003cMuster\u003e](` + address + `): [` + subject + `](` + address + `)",` +
			`"url":"` + address + `","detail":"[` + "`5f1c0e7`" + ` 3 days ago](` + address + `)","repositoryID":12,"repository":"git.example.org/lab/kiln",` +
			`"oid":"` + kilnCommit + `","message":"` + message + `","authorName":"Ada \u003cMuster\u003e","authorDate":"2031-01-31T09:30:00Z",` +
			`"committerName":"Bo","committerDate":"2031-01-31T09:31:12Z","repoStars":41,"repoLastFetched":"2031-02-03T04:05:06.789012Z",`
	}
	message := stoke("Stoke the kiln  \n\nIt was too cold for slip.")
	message.Ranges = []query.Range{in(message.Body, "kiln"), in(message.Body, "slip")}
	changed := stoke("Stoke the kiln")
	changed.IsDiff = true
	preview := diff.Preview([]diff.Highlighted{{
		File:  diff.File{OldPath: "src/kiln.go", NewPath: "src/kiln.go", Text: []byte("@@ -7,1 +7,2 @@ func stoke()\n-\tadd(\"peat\")\n+\tadd(\"coal\")\n+\tblow()\n")},
		Lines: []diff.Found{{Number: 2, Spans: []match.Span{{Start: 6, End: 10}}}},
	}}, diff.Rest{})
	changed.Body, changed.Ranges = preview.Body, preview.Ranges
	short := *changed
	short.Cut, short.Hidden = true, 7
	bare := &query.CommitMatch{Repo: &query.Repository{ID: 1, Name: "r"}, OID: "abc", IsDiff: true}
	for _, c := range []struct {
		name  string
		match *query.CommitMatch
		want  string
	}{
		{"message", message, head("Stoke the kiln", `Stoke the kiln  \n\nIt was too cold for slip.`) +
			`"content":"` + "```COMMIT_EDITMSG" + `\nStoke the kiln  \n\nIt was too cold for slip.\n` + "```" + `","ranges":[[1,10,4],[3,20,4]]}`},
		{"diff", changed, head("Stoke the kiln", "Stoke the kiln") +
			`"content":"` + "```diff" + `\nsrc/kiln.go src/kiln.go\n@@ -7,1 +7,2 @@ func stoke()\n-\tadd(\"peat\")\n+\tadd(\"coal\")\n+\tblow()\n\n` +
			"```" + `","ranges":[[4,7,4]]}`},
		{"shortened", &short, head("Stoke the kiln", "Stoke the kiln") +
			`"content":"` + "```diff" + `\nsrc/kiln.go src/kiln.go\n@@ -7,1 +7,2 @@ func stoke()\n-\tadd(\"peat\")\n+\tadd(\"coal\")\n+\tblow()\n\n` +
			"```" + `","contentTruncated":true,"hiddenRanges":7,"ranges":[[4,7,4]]}`},
		{"the least", bare, `{"type":"commit","label":"[r](/r) › [](/r/-/commit/abc): [](/r/-/commit/abc)","url":"/r/-/commit/abc",` +
			`"detail":"[` + "`abc`" + ` 292 years ago](/r/-/commit/abc)","repositoryID":1,"repository":"r","oid":"abc","message":"",` +
			`"authorName":"","authorDate":"0001-01-01T00:00:00Z","committerName":"","committerDate":"0001-01-01T00:00:00Z",` +
			`"content":"` + "```diff" + `\n\n` + "```" + `","ranges":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(e.Append(nil, c.match)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDisplayName(t *testing.T) {
	for name, want := range map[string]string{
		"git.example.org/lab/kiln":   "lab/kiln",
		"git.example.org/a/lab/kiln": "a/lab/kiln",
		"git.example.org/kiln":       "git.example.org/kiln",
		"lab/kiln/shed":              "lab/kiln/shed",
		"kiln":                       "kiln",
		"":                           "",
	} {
		if got := displayName(name); got != want {
			t.Errorf("displayName(%q) = %q, want %q", name, got, want)
		}
	}
}

// Git stores dates that RFC 3339 has no words for.
func TestCommitDates(t *testing.T) {
	for _, c := range []struct {
		date time.Time
		want string
	}{
		{stokedAt, "2031-01-31T09:30:00Z"},
		{time.Unix(0, 999), "1970-01-01T00:00:00Z"},
		{time.Unix(-1<<40, 0), "0000-01-01T00:00:00Z"},
		{time.Unix(1<<40, 0), "9999-12-31T23:59:59Z"},
	} {
		if got := wireDate(c.date).Format(time.RFC3339); got != c.want {
			t.Errorf("%v: got %s, want %s", c.date, got, c.want)
		}
	}
}

func TestHighlights(t *testing.T) {
	preview := "ofen/ö.go ofen/ö.go\n@@ -1,1 +1,1 @@ \n-½ glaze\n+glaze\n"
	place := func(from, to int) query.Range { return span(locate(preview, from), locate(preview, to)) }
	for _, c := range []struct {
		name, body string
		isDiff     bool
		ranges     []query.Range
		want       string
	}{
		{"none", "a", false, nil, "[]"},
		{"runes", "½ ½½ x", false, []query.Range{in("½ ½½ x", "½½")}, "[[1 2 2]]"},

		// over lines: bytes, then runes; nothing of nothing
		{"two lines", "a ½½\n½½ b", false, []query.Range{in("a ½½\n½½ b", "½\n½½")}, "[[1 3 2] [2 0 2]]"},
		{"an empty line between", "ab\n\ncd", false, []query.Range{in("ab\n\ncd", "b\n\nc")}, "[[1 1 1] [3 0 1]]"},
		{"a newline at the end", "ab\ncd", false, []query.Range{in("ab\ncd", "b\n")}, "[[1 1 1]]"},
		{"a newline at the end, on its line", "ab\ncd", false, []query.Range{span(at(1, 0, 1), at(3, 0, 3))}, "[[1 1 2]]"},
		{"nothing but a newline", "ab\ncd", false, []query.Range{in("ab\ncd", "\n")}, "[]"},
		{"nothing", "ab", false, []query.Range{span(at(1, 0, 1), at(1, 0, 1))}, "[]"},

		// a diff: the sign is column 0, the second path begins behind the bytes of the first
		{"lines of a diff", preview, true, []query.Range{in(preview, "½ "), in(preview, "+glaze")}, "[[3 1 2] [4 0 6]]"},
		{"paths", preview, true, []query.Range{place(0, 4), place(5, 7), place(11, 15), place(16, 18)}, "[[1 0 4] [1 5 1] [1 11 4] [1 16 1]]"},
		{"a message that looks like a diff", preview, false, []query.Range{place(11, 15)}, "[[1 10 4]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &query.CommitMatch{Body: c.body, IsDiff: c.isDiff, Ranges: c.ranges}
			if got := fmt.Sprint(Highlights(m)); got != c.want {
				t.Errorf("body %q, ranges %+v: got %s, want %s", c.body, c.ranges, got, c.want)
			}
		})
	}
}

// tagCommit says by its tags what Encoder writes by hand; clients decode
// its members with these types.
type tagCommit struct {
	Type            string     `json:"type"`
	Label           string     `json:"label"`
	URL             string     `json:"url"`
	Detail          string     `json:"detail"`
	RepositoryID    uint32     `json:"repositoryID"`
	Repository      string     `json:"repository"`
	OID             string     `json:"oid"`
	Message         string     `json:"message"`
	AuthorName      string     `json:"authorName"`
	AuthorDate      time.Time  `json:"authorDate"`
	CommitterName   string     `json:"committerName"`
	CommitterDate   time.Time  `json:"committerDate"`
	RepoStars       int        `json:"repoStars,omitempty"`
	RepoLastFetched *time.Time `json:"repoLastFetched,omitempty"`
	Content         string     `json:"content"`
	Ranges          [][3]int32 `json:"ranges"`
}

func TestCommitJSONAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "a\nb", "<&>", "\u2028", "日本 x", "[](", "\r\n"})
		date := rapid.Custom(func(t *rapid.T) time.Time { return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "date"), 5) })
		m := &query.CommitMatch{
			Repo: drawRepo.Draw(t, "repo"), OID: kilnCommit, Message: text.Draw(t, "message"), Body: text.Draw(t, "body"), IsDiff: rapid.Bool().Draw(t, "is diff"),
			Author:    query.Signature{Name: text.Draw(t, "author"), Date: date.Draw(t, "authored")},
			Committer: query.Signature{Name: text.Draw(t, "committer"), Date: date.Draw(t, "committed")},
		}
		// What is invalid is written otherwise than encoding/json writes U+FFFD.
		m.Repo.Name = strings.ToValidUTF8(m.Repo.Name, "?")
		if m.Body != "" {
			m.Ranges = []query.Range{span(at(0, 0, 0), locate(m.Body, len(m.Body)))}
		}
		e := Encoder{Now: func() time.Time { return commitNow }}
		got := e.Append(nil, m)
		var back tagCommit
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		want, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestHugeCommitsAreCut(t *testing.T) {
	long := strings.Repeat("\x01½", race.Scaled(3<<20, 3<<17))
	count := race.Scaled(1<<20, 1<<19)
	lines := strings.Repeat("a line\n", count)
	everything := stoke(long)
	everything.Author.Name, everything.Committer.Name = long, long
	everything.Body = "hit\n" + long + "hit\n" + lines + "last"
	everything.Ranges = []query.Range{
		in(everything.Body, "hit"), in(everything.Body, "½hit"), in(everything.Body, "last"),
	}
	dense := stoke("dense")
	dense.Body = lines
	for i := range uint32(count) {
		dense.Ranges = append(dense.Ranges, span(at(7*i, i, 0), at(7*i+1, i, 1)))
	}
	for _, c := range []struct {
		name  string
		match *query.CommitMatch
		want  int // ranges at least
	}{{"everything", everything, 1}, {"dense", dense, 1000}} {
		t.Run(c.name, func(t *testing.T) {
			e := Encoder{Now: func() time.Time { return commitNow }}
			if FitsMatch(len(e.Append(nil, c.match))) {
				t.Fatal("the match fits an event as it is: it tests nothing")
			}
			parts := Divide(c.match)
			if len(parts) != 1 {
				t.Fatalf("got %d parts, want 1", len(parts))
			}
			part := e.AppendPart(nil, parts[0])
			var back tagCommit
			if err := json.Unmarshal(part, &back); err != nil {
				t.Fatalf("%.200s: %v", part, err)
			}
			if !FitsMatch(len(part)) || !utf8.ValidString(back.Content) || back.OID != kilnCommit {
				t.Errorf("the part takes %d bytes, its content is valid: %t, oid %q", len(part), utf8.ValidString(back.Content), back.OID)
			}
			checkHighlights(t, back, c.want)
		})
	}
}

// checkHighlights demands that ranges lie in the content.
func checkHighlights(t *testing.T, m tagCommit, least int) {
	t.Helper()
	if len(m.Ranges) < least {
		t.Errorf("got %d ranges, want at least %d", len(m.Ranges), least)
	}
	lines := strings.Split(m.Content, "\n")
	for _, r := range m.Ranges {
		if int(r[0]) >= len(lines)-1 || int(r[1]+r[2]) > utf8.RuneCountInString(lines[r[0]]) {
			t.Fatalf("range %v is not in the %d lines of the content", r, len(lines))
		}
	}
}
