package bench

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestColumns(t *testing.T) {
	var c columns
	c.set("a", "trawl", "trawl", 1)
	c.set("b", "trawl", "trawl", 2)
	c.set("b", "rg", "rg", 3)
	c.set("a", "rg", "rg", none)
	c.set("a", "asleep", "zoekt", none)
	c.set("c", "late", "csearch", 4)
	got, err := json.Marshal(c.chart("dots", "ms"))
	want := `{"kind":"dots","unit":"ms","log":false,"across":false,"labels":["a","b","c"],"series":[` +
		`{"name":"trawl","tool":"trawl","values":[1,2,null]},{"name":"rg","tool":"rg","values":[null,3,null]},` +
		`{"name":"late","tool":"csearch","values":[null,null,4]}]}`
	if err != nil || string(got) != want {
		t.Errorf("chart = %s, error %v;\nwant %s", got, err, want)
	}
}

func TestChartText(t *testing.T) {
	for _, tt := range []struct {
		unit string
		v    value
		want string
	}{
		{"ms", 1.234, "1.23"}, {"ms", none, "–"}, {"s", 12.345, "12.35"}, {"bytes", 1500, "1.5 kB"},
		{"share", 0.123, "0.12"}, {"per second", 99.96, "100.0"},
	} {
		if got := (chart{Unit: tt.unit}).Text(tt.v); got != tt.want {
			t.Errorf("%v in %s: %q, want %q", float64(tt.v), tt.unit, got, tt.want)
		}
	}
}

// A mean over the queries of each size would jump where one of them begins to
// have matches.
func TestSetMeans(t *testing.T) {
	ms := time.Millisecond
	at := func(factor float64, firsts ...time.Duration) GrowthFacts {
		g := GrowthFacts{Factor: factor}
		for _, f := range firsts {
			g.Queries = append(g.Queries, QueryFacts{Runs: []Answer{{First: f}}})
		}
		return g
	}
	r := Report{Growth: []GrowthFacts{at(1, 2*ms, 0, 8*ms), at(2, 4*ms, 900*ms, 16*ms)}}
	var c columns
	r.setMeans(&c, "trawl", QueryFacts.First)
	got := c.chart("lines", "ms").Series[0].Values
	if math.Abs(float64(got[0])-4) > 1e-9 || math.Abs(float64(got[1])-8) > 1e-9 {
		t.Errorf("means = %v, want 4 and 8, without the query that has no match at first", got)
	}
}
