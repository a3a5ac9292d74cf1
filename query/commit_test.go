package query_test

import (
	"testing"

	"github.com/trawlsearch/trawl/query"
)

func TestTruncateCommit(t *testing.T) {
	for _, c := range []struct{ ranges, most, wantRanges, wantCount int }{
		{0, 1, 0, 1},
		{1, 1, 1, 1},
		{3, 1, 1, 1},
		{3, 2, 2, 2},
		{3, 3, 3, 3},
		{3, 9, 3, 3},
	} {
		m := &query.CommitMatch{Body: "b", Ranges: make([]query.Range, c.ranges)}
		for i := range m.Ranges {
			m.Ranges[i].Start.Offset = uint32(i)
		}
		got := query.Truncate(m, c.most).(*query.CommitMatch)
		if len(got.Ranges) != c.wantRanges || got.Count() != c.wantCount || got.Body != m.Body {
			t.Errorf("commit of %d ranges cut to %d: got %d ranges, count %d, body %q; want %d, %d, %q",
				c.ranges, c.most, len(got.Ranges), got.Count(), got.Body, c.wantRanges, c.wantCount, m.Body)
		}
		for i, r := range got.Ranges {
			if r.Start.Offset != uint32(i) {
				t.Errorf("commit of %d ranges cut to %d: range %d is %+v, want the first ones", c.ranges, c.most, i, r)
			}
		}
		if len(m.Ranges) != c.ranges {
			t.Errorf("commit of %d ranges cut to %d: the match itself was changed", c.ranges, c.most)
		}
	}
}
