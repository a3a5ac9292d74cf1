package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SoakSample is what a server has after a round.
type SoakSample struct {
	// Server counts the servers, Age the rounds of this one.
	Server int `json:"server"`
	Age    int `json:"age"`
	// ResidentBytes and HeapBytes are those of the server, the latter after a
	// collection; DiskBytes is the data directory.
	ResidentBytes float64 `json:"residentBytes"`
	HeapBytes     float64 `json:"heapBytes"`
	DiskBytes     float64 `json:"diskBytes"`
	Goroutines    float64 `json:"goroutines"`
	// Files are open ones but for the engine's tables, which are Tables: these come
	// with each shard, and go when enough of them were dropped.
	Files  float64 `json:"files"`
	Tables float64 `json:"tables"`
	// Children are git, ctags and what else the server has started.
	Children  float64 `json:"children"`
	Searches  float64 `json:"searches"`
	Snapshots float64 `json:"snapshots"`
}

// String tells it in a line.
func (s SoakSample) String() string {
	return fmt.Sprintf("%.0f MB resident, %.1f MB heap, %.1f MB on disk, %.0f goroutines, %.0f files, %.0f tables, %.0f children",
		s.ResidentBytes/1e6, s.HeapBytes/1e6, s.DiskBytes/1e6, s.Goroutines, s.Files, s.Tables, s.Children)
}

// restsFor is how long a server is given to end what it does after a round.
const restsFor = 2 * time.Second

// measure waits for a rest, and measures. What goes up and down by itself is
// measured several times, of which the least counts.
func (s *soaker) measure(ctx context.Context) (SoakSample, error) {
	s.client.client.CloseIdleConnections()
	out := SoakSample{Server: s.report.Restarts, Age: s.age}
	for i := range 3 {
		if !pause(ctx, restsFor) {
			return out, ctx.Err()
		}
		now, err := s.look(ctx)
		if err != nil {
			return out, err
		}
		now.Server, now.Age = out.Server, out.Age
		if i == 0 {
			out = now
			continue
		}
		for _, f := range soakFigures {
			*f.of(&out) = min(*f.of(&out), *f.of(&now))
		}
	}
	return out, nil
}

func (s *soaker) look(ctx context.Context) (out SoakSample, err error) {
	if _, err := s.debugPage(ctx, "/debug/pprof/heap?gc=1"); err != nil {
		return out, err
	}
	page, err := s.debugPage(ctx, "/metrics")
	if err != nil {
		return out, err
	}
	values := metricsOf(page)
	for name, to := range map[string]*float64{
		"go_memstats_heap_alloc_bytes": &out.HeapBytes, "go_goroutines": &out.Goroutines,
		"trawl_searches_at_work": &out.Searches, "trawl_engine_snapshots": &out.Snapshots,
	} {
		v, ok := values[name]
		if !ok {
			return out, fmt.Errorf("the server has no metric %s", name)
		}
		*to = v
	}
	if out.Files, out.Tables, err = openFiles(s.server.cmd.Process.Pid); err != nil {
		return out, err
	}
	out.ResidentBytes = float64(s.server.memory().total)
	out.Children = float64(len(children(s.server.cmd.Process.Pid)))
	disk, _, err := diskUse(s.data())
	out.DiskBytes = float64(disk)
	return out, err
}

// openFiles counts what a process has open.
func openFiles(pid int) (files, tables float64, err error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		to, _ := os.Readlink(filepath.Join(dir, e.Name())) // one that was closed meanwhile is of no kind
		if filepath.Ext(to) == ".sst" {
			tables++
		} else {
			files++
		}
	}
	return files, tables, err
}

func (s *soaker) debugPage(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.debug+path, nil)
	if err != nil {
		return "", err
	}
	req.Close = true
	resp, err := s.client.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// metricsOf reads values without labels from a page for Prometheus.
func metricsOf(page string) map[string]float64 {
	out := map[string]float64{}
	lines := bufio.NewScanner(strings.NewReader(page))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			out[name] = v
		}
	}
	return out
}

// soakFigure is something that must not grow.
type soakFigure struct {
	name string
	of   func(*SoakSample) *float64
	// most is how much it may grow over the rounds of a server, or if always is
	// set over the whole run.
	most   float64
	always bool
}

var soakFigures = []soakFigure{
	{"resident memory, MB", func(s *SoakSample) *float64 { return &s.ResidentBytes }, 32e6, false},
	{"heap, MB", func(s *SoakSample) *float64 { return &s.HeapBytes }, 6e6, false},
	{"disk, MB", func(s *SoakSample) *float64 { return &s.DiskBytes }, 16e6, true},
	{"goroutines", func(s *SoakSample) *float64 { return &s.Goroutines }, 4, false},
	{"open files", func(s *SoakSample) *float64 { return &s.Files }, 6, false},
	{"tables of the engine", func(s *SoakSample) *float64 { return &s.Tables }, 100, false},
	{"children", func(s *SoakSample) *float64 { return &s.Children }, 1, false},
	{"snapshots", func(s *SoakSample) *float64 { return &s.Snapshots }, 0, false},
	{"searches at work", func(s *SoakSample) *float64 { return &s.Searches }, 0, false},
}

// growth is by how much a figure grows over the longest stretch of samples that
// are compared: the median of the slopes between any two of them, which a few
// that stand out do not move, times the length.
func (f soakFigure) growth(samples []SoakSample) float64 {
	var slopes []float64
	longest := 0
	for i := range samples {
		for k := range i {
			a, b := &samples[k], &samples[i]
			if a.Age <= warmUp || b.Age <= warmUp || !f.always && a.Server != b.Server {
				continue
			}
			longest = max(longest, i-k)
			slopes = append(slopes, (*f.of(b)-*f.of(a))/float64(i-k))
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	return slopes[len(slopes)/2] * float64(longest)
}
