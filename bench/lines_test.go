package bench_test

import (
	"reflect"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

func TestCompare(t *testing.T) {
	at := func(path string, line uint32) bench.LinePosition { return bench.LinePosition{Path: path, Line: line} }
	for _, tt := range []struct {
		name      string
		got, want bench.LineSet
		diff      bench.Difference
	}{
		// The same
		{"nothing", bench.LineSet{}, bench.LineSet{}, bench.Difference{}},
		{"equal", bench.LineSet{"a": {1, 2}, "b": nil}, bench.LineSet{"a": {1, 2}, "b": nil}, bench.Difference{}},

		// Lines of one file
		{"missing", bench.LineSet{"a": {2}}, bench.LineSet{"a": {1, 2, 3}},
			bench.Difference{Missing: 2, MissingAt: []bench.LinePosition{at("a", 1), at("a", 3)}}},
		{"extra", bench.LineSet{"a": {1, 2, 9}}, bench.LineSet{"a": {2}},
			bench.Difference{Extra: 2, ExtraAt: []bench.LinePosition{at("a", 1), at("a", 9)}}},
		{"shifted", bench.LineSet{"a": {1, 5}}, bench.LineSet{"a": {2, 5}},
			bench.Difference{Missing: 1, Extra: 1, MissingAt: []bench.LinePosition{at("a", 2)}, ExtraAt: []bench.LinePosition{at("a", 1)}}},

		// Files
		{"other file", bench.LineSet{"a": {1}}, bench.LineSet{"b": {1}},
			bench.Difference{Missing: 1, Extra: 1, MissingAt: []bench.LinePosition{at("b", 1)}, ExtraAt: []bench.LinePosition{at("a", 1)}}},
		{"bare path", bench.LineSet{"a": nil}, bench.LineSet{"b": nil},
			bench.Difference{Missing: 1, Extra: 1, MissingAt: []bench.LinePosition{at("b", 0)}, ExtraAt: []bench.LinePosition{at("a", 0)}}},
		{"path with and without lines", bench.LineSet{"a": nil}, bench.LineSet{"a": {1}},
			bench.Difference{Missing: 1, Extra: 1, MissingAt: []bench.LinePosition{at("a", 1)}, ExtraAt: []bench.LinePosition{at("a", 0)}}},

		// Only the first few are spelled out
		{"many", bench.LineSet{}, bench.LineSet{"b": {1, 2, 3, 4}, "a": {7, 8, 9}},
			bench.Difference{Missing: 7, MissingAt: []bench.LinePosition{at("a", 7), at("a", 8), at("a", 9), at("b", 1), at("b", 2)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := bench.Compare(tt.got, tt.want); !reflect.DeepEqual(d, tt.diff) {
				t.Errorf("compare %v with %v:\n got %+v\nwant %+v", tt.got, tt.want, d, tt.diff)
			}
		})
	}
}

func TestLineSet(t *testing.T) {
	s := bench.LineSet{}
	for _, line := range []uint32{7, 3, 7} {
		s.Add("a", line)
	}
	s.Add("b", 0)
	s.Add("c", 1)
	s.Keep(func(path string) bool { return path != "c" })
	s.Sort()
	want := bench.LineSet{"a": {3, 7}, "b": nil}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("set = %v, want %v", s, want)
	}
	if got := s.Len(); got != 3 {
		t.Errorf("length of %v = %d, want 3", s, got)
	}
	if got, want := s.Paths(), (bench.LineSet{"a": nil, "b": nil}); !reflect.DeepEqual(got, want) {
		t.Errorf("paths = %v, want %v", got, want)
	}
}
