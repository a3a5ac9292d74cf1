package match_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
)

func newlines(text []byte) []uint16 {
	out := make([]uint16, postings.BlockCount(len(text)))
	for i, c := range text {
		if c == '\n' {
			out[i/postings.BlockBytes]++
		}
	}
	return out
}

func TestChunks(t *testing.T) {
	type span = match.Span
	const text = "one ½ two\ntwo\n\nfour\r\nfive\nsix"
	at := func(s string) uint32 { return uint32(bytes.Index([]byte(text), []byte(s))) }
	tests := []struct {
		name    string
		spans   []span
		context int
		want    []string // content of each chunk
		starts  []query.Location
		last    query.Range // last range of the last chunk
	}{
		{"one line", []span{{at("two"), at("two") + 3}}, 0, []string{"one ½ two\n"},
			[]query.Location{{}}, query.Range{Start: query.Location{Offset: 7, Column: 6}, End: query.Location{Offset: 10, Column: 9}}},
		{"context cut at both ends", []span{{at("four"), at("four") + 1}}, 9, []string{text},
			[]query.Location{{}}, query.Range{Start: query.Location{Offset: 16, Line: 3}, End: query.Location{Offset: 17, Line: 3, Column: 1}}},
		{"context", []span{{at("four"), at("four") + 1}}, 1, []string{"\nfour\r\nfive\n"},
			[]query.Location{{Offset: 15, Line: 2}}, query.Range{Start: query.Location{Offset: 16, Line: 3}, End: query.Location{Offset: 17, Line: 3, Column: 1}}},
		{"apart without context", []span{{0, 1}, {at("two\n\n"), at("two\n\n") + 1}}, 0, []string{"one ½ two\n", "two\n"},
			[]query.Location{{}, {Offset: 11, Line: 1}}, query.Range{Start: query.Location{Offset: 11, Line: 1}, End: query.Location{Offset: 12, Line: 1, Column: 1}}},
		{"joined by context", []span{{0, 1}, {at("four"), at("four") + 4}}, 2, []string{"one ½ two\ntwo\n\nfour\r\nfive\nsix"},
			[]query.Location{{}}, query.Range{Start: query.Location{Offset: 16, Line: 3}, End: query.Location{Offset: 20, Line: 3, Column: 4}}},
		{"no final newline", []span{{at("six"), at("six") + 3}}, 0, []string{"six"},
			[]query.Location{{Offset: 27, Line: 5}}, query.Range{Start: query.Location{Offset: 27, Line: 5}, End: query.Location{Offset: 30, Line: 5, Column: 3}}},
		{"over lines", []span{{at("two\ntwo"), at("four") + 2}}, 0, []string{"one ½ two\ntwo\n\nfour\r\n"},
			[]query.Location{{}}, query.Range{Start: query.Location{Offset: 7, Column: 6}, End: query.Location{Offset: 18, Line: 3, Column: 2}}},
		{"ends with the newline", []span{{at("two\n\n"), at("two\n\n") + 4}}, 0, []string{"two\n"},
			[]query.Location{{Offset: 11, Line: 1}}, query.Range{Start: query.Location{Offset: 11, Line: 1}, End: query.Location{Offset: 15, Line: 1, Column: 4}}},
	}
	for _, tt := range tests {
		var doc match.Text
		doc.ResetBytes([]byte(text), newlines([]byte(text)))
		chunks, err := new(match.Chunker).Chunks(&doc, tt.spans, tt.context)
		if err != nil {
			t.Fatal(err)
		}
		var content []string
		var starts []query.Location
		for _, c := range chunks {
			content, starts = append(content, string(c.Content)), append(starts, c.Start)
		}
		if !reflect.DeepEqual(content, tt.want) || !reflect.DeepEqual(starts, tt.starts) {
			t.Errorf("%s: chunks %q at %v, want %q at %v", tt.name, content, starts, tt.want, tt.starts)
			continue
		}
		ranges := chunks[len(chunks)-1].Ranges
		if got := ranges[len(ranges)-1]; got != tt.last {
			t.Errorf("%s: last range %v, want %v", tt.name, got, tt.last)
		}
	}
}

// naiveLocation counts from the start of the text.
func naiveLocation(text []byte, offset, on int) query.Location {
	start := bytes.LastIndexByte(text[:on], '\n') + 1
	return query.Location{
		Offset: uint32(offset), Line: uint32(bytes.Count(text[:start], []byte{'\n'})),
		Column: uint32(utf8.RuneCount(text[start:offset])),
	}
}

// TestChunksAgainstCounting: locations in large and small documents, with long
// lines, are those that counting from the start gives, and the chunks hold
// every range whole.
func TestChunksAgainstCounting(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		text := randomText(rng)
		if len(text) == 0 {
			continue
		}
		c := newCorpus(t, [][]byte{text})
		var spans []match.Span
		for at := rng.IntN(200); at < len(text); {
			// Matches begin and end between runes.
			for at < len(text)-1 && !utf8.RuneStart(text[at]) {
				at++
			}
			end := min(at+1+rng.IntN(30), len(text))
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end++
			}
			spans = append(spans, match.Span{Start: uint32(at), End: uint32(end)})
			at = end + rng.IntN(3000)
		}
		src := c.view.Text()
		var doc match.Text
		doc.Reset(src, 0, len(text), c.view.Newlines())
		context := rng.IntN(4)
		chunks, err := new(match.Chunker).Chunks(&doc, spans, context)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for _, ch := range chunks {
			lo := int(ch.Start.Offset)
			if !bytes.Equal(text[lo:lo+len(ch.Content)], ch.Content) || ch.Start != naiveLocation(text, lo, lo) {
				t.Fatalf("seed %d: chunk at %+v does not stand there", seed, ch.Start)
			}
			for _, r := range ch.Ranges {
				s := spans[i]
				want := query.Range{Start: naiveLocation(text, int(s.Start), int(s.Start)), End: naiveLocation(text, int(s.End), int(s.End)-1)}
				if r != want {
					t.Fatalf("seed %d: range %+v, want %+v", seed, r, want)
				}
				if int(s.Start) < lo || int(s.End) > lo+len(ch.Content) {
					t.Fatalf("seed %d: range %v outside of its chunk", seed, s)
				}
				i++
			}
		}
		if i != len(spans) {
			t.Fatalf("seed %d: %d ranges, want %d", seed, i, len(spans))
		}
		src.Close()
		c.close()
	}
}
