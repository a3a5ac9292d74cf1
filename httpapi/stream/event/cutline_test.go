package event

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

func TestCutAround(t *testing.T) {
	long := strings.Repeat("0123456789", 10)
	at := func(offset, line, column, length uint32) query.Range {
		return query.Range{Start: query.Location{Offset: offset, Line: line, Column: column}, End: query.Location{Offset: offset + length, Line: line, Column: column + length}}
	}
	for _, c := range []struct {
		name, content string
		ranges        []query.Range
		limit         int
		want          string
		cuts          []cutLine
	}{
		{"fits", "abc\n", []query.Range{at(100, 7, 0, 1)}, 3, "abc\n", nil},
		{"at the start", long + "\n", []query.Range{at(102, 7, 2, 3)}, 30, long[:30] + "\n", []cutLine{{7, 0, 70}}},
		{"in the middle", long + "\n", []query.Range{at(150, 7, 50, 3)}, 30, long[40:70] + "\n", []cutLine{{7, 40, 30}}},
		{"at the end", long, []query.Range{at(198, 7, 98, 2)}, 30, long[70:], []cutLine{{7, 70, 0}}},
		{"longer than the limit", long + "\n", []query.Range{at(120, 7, 20, 70)}, 30, long[10:40] + "\n", []cutLine{{7, 10, 60}}},
		{"no match", long + "\nx\n", []query.Range{at(201, 8, 0, 1)}, 30, long[:30] + "\nx\n", []cutLine{{7, 0, 70}}},
		{"second line", "x\n" + long + "\n", []query.Range{at(100, 7, 0, 1), at(152, 8, 50, 1)}, 30, "x\n" + long[40:70] + "\n", []cutLine{{8, 40, 30}}},
		{"over lines", "abc\n" + long + "\n", []query.Range{{Start: query.Location{Offset: 100, Line: 7}, End: query.Location{Offset: 110, Line: 8, Column: 6}}}, 30, "abc\n" + long[:30] + "\n", []cutLine{{8, 0, 70}}},
	} {
		got, cuts := cutAround(query.Chunk{Content: []byte(c.content), Start: query.Location{Offset: 100, Line: 7}, Ranges: c.ranges}, c.limit)
		if string(got) != c.want || !reflect.DeepEqual(cuts, c.cuts) {
			t.Errorf("%s: %q with %v, want %q with %v", c.name, got, cuts, c.want, c.cuts)
		}
	}
}

// Whatever the text, the part is a piece of the line that is no longer than the
// limit, and its cuts count the characters around it.
func FuzzCutAround(f *testing.F) {
	f.Add("½½½½½½½½½½ x ½½½½½", 20, 11)
	f.Add("½½½½½½", 6, 11)
	f.Add("\xff\xfe\x80\x80\x80\x80\x80x", 6, 3)
	f.Fuzz(func(t *testing.T, text string, at, limit int) {
		if strings.Contains(text, "\n") || at < 0 || at >= len(text) || limit < 1 || limit >= len(text) {
			return
		}
		column := uint32(utf8.RuneCountInString(text[:at]))
		r := query.Range{Start: query.Location{Offset: uint32(at), Column: column}, End: query.Location{Offset: uint32(at) + 1, Column: column + 1}}
		got, cuts := cutAround(query.Chunk{Content: []byte(text), Ranges: []query.Range{r}}, limit)
		if len(got) > limit+utf8.UTFMax || !strings.Contains(text, string(got)) || len(cuts) != 1 {
			t.Fatalf("%q cut to %d at %d: %q with %v", text, limit, at, got, cuts)
		}
		// bytes that are no text may be counted otherwise where they are parted
		if utf8.ValidString(text) && cuts[0].before+cuts[0].behind+uint32(utf8.RuneCount(got)) != uint32(utf8.RuneCountInString(text)) {
			t.Fatalf("%q cut to %q: %v counts other characters", text, got, cuts)
		}
	})
}
