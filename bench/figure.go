package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// figure is one plot of the report and, since a plot cannot be read aloud or
// copied, the table that says the same.
type figure struct {
	ID    string
	Title string
	// Explain describes the figure and how it was measured.
	Explain string
	Chart   chart
}

// chart is what web/report.js draws: a value for every label of every series.
type chart struct {
	// Kind is "dots", "bars" or "lines".
	Kind string `json:"kind"`
	// Unit is "ms", "s", "bytes", "share" or "per second".
	Unit string `json:"unit"`
	// Log asks for a logarithmic scale, where equal factors are equal steps.
	Log bool `json:"log"`
	// Across lays the labels along the horizontal axis.
	Across bool     `json:"across"`
	Labels []string `json:"labels"`
	Series []series `json:"series"`
}

// series is one tool's values in the order of the labels.
type series struct {
	// Name is what people read. Tool chooses the colour.
	Name   string  `json:"name"`
	Tool   string  `json:"tool"`
	Values []value `json:"values"`
}

// value is a number; NaN is one that there is not.
type value float64

// MarshalJSON writes null for a missing value.
func (v value) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

var none = value(math.NaN())

// What else than a tool has a colour.
const (
	// limitTool marks a series of goals.
	limitTool = "limit"
	// byLabel gives each value the colour of the tool that its label names.
	byLabel = ""
	// second and third are further series about trawl.
	second = "second"
	third  = "third"
)

// millis returns d for a chart; no time at all is a missing value.
func millis(d time.Duration) value {
	if d <= 0 {
		return none
	}
	return value(float64(d) / float64(time.Millisecond))
}

func seconds(d time.Duration) value { return millis(d) / 1000 }

// size returns bytes for a chart; 0 is an unknown size.
func size(n int64) value {
	if n <= 0 {
		return none
	}
	return value(n)
}

// Text returns v as the figure's table has it.
func (c chart) Text(v value) string {
	if math.IsNaN(float64(v)) {
		return "–"
	}
	switch c.Unit {
	case "ms":
		return showMillis(time.Duration(float64(v) * float64(time.Millisecond)))
	case "s":
		return fmt.Sprintf("%.2f", float64(v))
	case "bytes":
		return showBytes(int64(v))
	case "share":
		return fmt.Sprintf("%.2f", float64(v))
	}
	return fmt.Sprintf("%.1f", float64(v))
}

// Row returns the i-th value of every series.
func (c chart) Row(i int) []string {
	var row []string
	for _, s := range c.Series {
		row = append(row, c.Text(s.Values[i]))
	}
	return row
}

// empty reports whether there is nothing to draw.
func (c chart) empty() bool {
	for _, s := range c.Series {
		for _, v := range s.Values {
			if s.Tool != limitTool && !math.IsNaN(float64(v)) {
				return false
			}
		}
	}
	return true
}

// columns collects values by tool in the order in which the tools first come.
type columns struct {
	labels []string
	series []series
}

// set notes tool's value for label. Both grow as they come.
func (c *columns) set(label, name, tool string, v value) {
	row := -1
	for i, l := range c.labels {
		if l == label {
			row = i
		}
	}
	if row < 0 {
		row = len(c.labels)
		c.labels = append(c.labels, label)
	}
	for i := range c.series {
		if c.series[i].Name == name {
			c.series[i].Values = padded(c.series[i].Values, row+1)
			c.series[i].Values[row] = v
			return
		}
	}
	c.series = append(c.series, series{Name: name, Tool: tool, Values: padded(nil, row+1)})
	c.series[len(c.series)-1].Values[row] = v
}

func padded(values []value, n int) []value {
	for len(values) < n {
		values = append(values, none)
	}
	return values
}

// chart returns what was collected, without series in which nothing is.
func (c *columns) chart(kind, unit string) chart {
	out := chart{Kind: kind, Unit: unit, Labels: c.labels}
	for _, s := range c.series {
		s.Values = padded(s.Values, len(c.labels))
		if slices.ContainsFunc(s.Values, func(v value) bool { return !math.IsNaN(float64(v)) }) {
			out.Series = append(out.Series, s)
		}
	}
	return out
}
