package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPhaseFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		want phaseFlags
	}{
		// Nothing beyond the queries unless it is asked for
		{"", phaseFlags{clientsFor: 10 * time.Second}},
		{"--cold 2 --clients 1,4 --clients-for 1s", phaseFlags{cold: 2, clients: []int{1, 4}, clientsFor: time.Second}},
		{"--growth 1/4,1,2", phaseFlags{clientsFor: 10 * time.Second, growth: []float64{0.25, 1, 2}}},

		// Everything, as far as nothing else is said
		{"--full", phaseFlags{full: true, cold: 3, clients: []int{1, 4, 16}, clientsFor: 10 * time.Second,
			memory: []string{"256MiB", "512MiB", "1GiB", "2GiB"}, growth: []float64{0.25, 0.5, 1, 2, 4}}},
		{"--full --growth= --cold 1 --clients 2 --memory 1GiB", phaseFlags{full: true, cold: 1, clients: []int{2},
			clientsFor: 10 * time.Second, memory: []string{"1GiB"}}},
	} {
		f, err := readRunFlags(append([]string{"--corpus", "x"}, strings.Fields(tt.args)...), io.Discard)
		if err != nil {
			t.Errorf("flags %q: %v", tt.args, err)
			continue
		}
		g := f.phases
		if g.full != tt.want.full || g.cold != tt.want.cold || !slices.Equal(g.clients, tt.want.clients) || g.clientsFor != tt.want.clientsFor ||
			!slices.Equal(g.memory, tt.want.memory) || !slices.Equal(g.growth, tt.want.growth) {
			t.Errorf("flags %q: %+v, want %+v", tt.args, g, tt.want)
		}
	}
}

func TestPhaseFlagErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--clients 0", "want a number of clients"},
		{"--clients 1,x", "want a number of clients"},
		{"--growth 3/2", "want a part such as 1/4"},
		{"--growth 1/0", "want a part such as 1/4"},
		{"--growth 0", "want a part such as 1/4"},
		{"--growth 65", "want a part such as 1/4"},
		{"--cold -1", "--cold -1"},
	} {
		_, err := readRunFlags(append([]string{"--corpus", "x"}, strings.Fields(tt.args)...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("flags %q: error %v, want one with %q", tt.args, err, tt.want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "trawl-bench run"},
		{[]string{"--corpus", "a b", "--only=^x$", "it's", ""}, `trawl-bench run --corpus 'a b' '--only=^x$' 'it'\''s' ''`},
		{[]string{"--token", "secret", "-token=secret", "--runs", "3"}, "trawl-bench run --token TOKEN --token=TOKEN --runs 3"},
	} {
		if got := commandLine("run", tt.args); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.args, got, tt.want)
		}
	}
}
