package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/redact"
)

// overviewData is what the overview shows.
type overviewData struct {
	frame
	admin.Status
	Recent   admin.Recent
	Charts   []chart
	Programs []Program
	// Failing are some of the repositories whose last sync failed.
	Failing []admin.StatusLag
}

// mostFailing is how many repositories the overview names.
const mostFailing = 5

func (d *overviewData) fill(v *visit) (err error) {
	if d.Status, err = v.area.Status(v.r.Context()); err != nil {
		return err
	}
	if v.area.Recent != nil {
		d.Recent = v.area.Recent()
	}
	if v.area.Programs != nil {
		d.Programs = v.area.Programs()
	}
	for _, lag := range d.Repositories.Lags {
		if lag.Error != "" && len(d.Failing) < mostFailing {
			lag.Error = redact.Text(lag.Error)
			d.Failing = append(d.Failing, lag)
		}
	}
	d.Charts = charts(d.Recent)
	return nil
}

// Bytes, Lasting and Since write what people read.
func (*overviewData) Bytes(n uint64) string { return bytesText(float64(n)) }
func (*overviewData) Lasting(seconds float64) string {
	return lastingText(time.Duration(seconds * float64(time.Second)))
}
func (*overviewData) Took(d time.Duration) string { return lastingText(d) }
func (d *overviewData) Uptime() string            { return lastingText(time.Since(d.Started)) }
func (d *overviewData) Hits() string {
	all := d.Index.CacheHits + d.Index.CacheMisses
	if all == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(d.Index.CacheHits)/float64(all), 'f', 1, 64) + " %"
}

// chart is a line of the values of an hour.
type chart struct {
	Title, Now, Most string
	// Line are the points of a polyline in a field of chartWidth by chartHeight.
	Line string
}

const (
	chartWidth  = 240
	chartHeight = 48
)

// charts are what the samples show.
func charts(r admin.Recent) (out []chart) {
	if len(r.Samples) < 2 {
		return nil
	}
	perMinute := float64(time.Minute) / float64(r.Every)
	for _, c := range []struct {
		title string
		of    func(admin.Sample) float64
		text  func(float64) string
	}{
		{"Searches a minute", func(s admin.Sample) float64 { return perMinute * float64(s.Searches) }, numberText},
		{"Search time, median", func(s admin.Sample) float64 { return float64(s.Median) }, durationText},
		{"Search time, 99 of 100", func(s admin.Sample) float64 { return float64(s.P99) }, durationText},
		{"Memory", func(s admin.Sample) float64 { return float64(s.MemoryBytes) }, bytesText},
		{"Repositories at work and waiting", func(s admin.Sample) float64 { return float64(s.Waiting) }, numberText},
		{"Lag, 99 of 100", func(s admin.Sample) float64 { return float64(s.Lag) }, durationText},
		{"Disk left", func(s admin.Sample) float64 { return float64(s.FreeBytes) }, bytesText},
	} {
		values := make([]float64, len(r.Samples))
		most := 0.0
		for i, s := range r.Samples {
			values[i] = c.of(s)
			most = max(most, values[i])
		}
		out = append(out, chart{c.title, c.text(values[len(values)-1]), c.text(most), line(values, most)})
	}
	return out
}

// line draws values from 0 to most.
func line(values []float64, most float64) string {
	var b strings.Builder
	for i, v := range values {
		x, y := float64(i)*chartWidth/float64(len(values)-1), float64(chartHeight)-1
		if most > 0 {
			y -= v / most * (chartHeight - 2)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", x, y)
	}
	return strings.TrimSuffix(b.String(), " ")
}

func numberText(v float64) string   { return strconv.FormatFloat(v, 'f', 0, 64) }
func durationText(v float64) string { return lastingText(time.Duration(v)) }

func bytesText(v float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if v < 1000 && unit == "B" {
			return numberText(v) + " B"
		}
		if v < 1000 {
			return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
		}
		v /= 1000
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " TB"
}

// lastingText writes a duration in the two largest units at most.
func lastingText(d time.Duration) string {
	switch {
	case d == 0:
		return "0 s"
	case d < time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 2, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
