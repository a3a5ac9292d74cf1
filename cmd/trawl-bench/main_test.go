package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

func TestRunFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string
	}{
		// What is missing
		{"", "--corpus is missing"},
		{"--corpus x --reuse", "--reuse needs --data"},

		// What is wrong
		{"--corpus x --runs 0", "--runs 0: at least one run"},
		{"--corpus x --bogus", "flag provided but not defined: -bogus"},
		{"--corpus x extra", `unexpected "extra"`},
		{"--corpus x --peer-budget 3", "invalid value"},
	} {
		_, err := readRunFlags(strings.Fields(tt.args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("flags %q: error = %v, want one with %q", tt.args, err, tt.want)
		}
	}
}

func TestRunConfig(t *testing.T) {
	f, err := readRunFlags(strings.Fields(
		"--corpus src --trawl bin --data kept --reuse --runs 3 --peers rg --only ^absent --peer-budget 2s --token x "+
			"--serve-arg --a --serve-arg=b"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.config()
	if err != nil {
		t.Fatal(err)
	}
	if c.Corpus != "src" || c.Trawl != "bin" || c.Work != "kept" || !c.Reuse || c.Runs != 3 || c.PeerBudget != 2*time.Second ||
		c.Token != "x" || !slices.Equal(c.Peers, []string{"rg"}) || !slices.Equal(c.ServeArgs, []string{"--a", "b"}) {
		t.Errorf("config = %+v, want what the flags say", c)
	}
	for _, q := range c.Queries {
		if !strings.HasPrefix(q.Name, "absent") {
			t.Errorf("--only ^absent keeps query %q", q.Name)
		}
	}
}

func TestRunConfigWithoutPeers(t *testing.T) {
	f, err := readRunFlags([]string{"--corpus", "src", "--peers", ""}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.config()
	if err != nil {
		t.Fatal(err)
	}
	// A nil list means all of them.
	if c.Peers == nil || len(c.Peers) > 0 {
		t.Errorf("peers = %#v, want an empty list", c.Peers)
	}
	if f, err = readRunFlags([]string{"--corpus", "src"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if c, err = f.config(); err != nil || c.Peers != nil {
		t.Errorf("peers without a flag = %#v, error %v; want nil, which is all of them", c.Peers, err)
	}
}

func TestLoadQueries(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	write(t, good, "name: a\nkind: literal\nquery: x\nliteral: x\n")
	write(t, bad, "name: a\ntaste: sweet\n")
	for _, tt := range []struct {
		name string
		want string // part of the error, empty for none
	}{
		{"kernel", ""}, {"small", ""}, {good, ""},
		{bad, bad + `: line 2: unknown field "taste"`},
		{"nowhere", `no query set "nowhere"`},
	} {
		queries, err := loadQueries(tt.name)
		switch {
		case tt.want == "" && (err != nil || len(queries) == 0):
			t.Errorf("queries %q: %d, error %v; want some", tt.name, len(queries), err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("queries %q: error = %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

func TestRankFlags(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--judged kernel", "--corpus is missing"},
		{"--reuse", "--reuse needs --data"},
		{"extra", `unexpected "extra"`},
	} {
		_, err := readRankFlags(strings.Fields(tt.args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("flags %q: error = %v, want one with %q", tt.args, err, tt.want)
		}
	}
	f, err := readRankFlags(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.config(t.Context())
	if err != nil || filepath.Base(c.Corpus) != "src" || len(c.Queries) < 40 || len(c.Before.Of) != len(c.Queries) {
		t.Errorf("without flags: corpus %s, %d queries, error %v; want Go's source and its set", c.Corpus, len(c.Queries), err)
	}
	own := filepath.Join(t.TempDir(), "own")
	write(t, own, "name: a\nkind: type\nquery: x\nwant: x\n")
	if queries, ranks, err := loadJudged(own); err != nil || len(queries) != 1 || len(ranks.Of) != 0 {
		t.Errorf("%s: %d queries, %d ranks, error %v; want one and none", own, len(queries), len(ranks.Of), err)
	}
	if _, _, err := loadJudged("nowhere"); err == nil || !strings.Contains(err.Error(), `no judged set "nowhere"`) {
		t.Errorf("a set that is not there: error %v", err)
	}
}

func TestRankDeliver(t *testing.T) {
	worse := bench.RankReport{All: bench.RankScore{Compared: 1, Before: 1, Now: 0.5}}
	for _, tt := range []struct {
		name   string
		report bench.RankReport
		strict bool
		code   int
	}{
		{"good", bench.RankReport{}, true, 0},
		{"problem", bench.RankReport{Problems: []string{"wrong"}}, false, 1},
		{"worse", worse, false, 0},
		{"worse, strict", worse, true, 1},
	} {
		var stdout, stderr bytes.Buffer
		f := rankFlags{strict: tt.strict, json: filepath.Join(t.TempDir(), "out.json"), update: filepath.Join(t.TempDir(), "ranks")}
		if got := exitCode(f.deliver(&tt.report, &stdout), &stderr); got != tt.code {
			t.Errorf("%s: exit code = %d, want %d; output:\n%s%s", tt.name, got, tt.code, &stdout, &stderr)
		}
	}
}

func TestDeliver(t *testing.T) {
	missed := []bench.Check{{Name: "index time", Value: "50 s", Target: "<= 45 s"}}
	for _, tt := range []struct {
		name   string
		report bench.Report
		strict bool
		code   int
	}{
		{"good", bench.Report{Version: bench.ReportVersion}, true, 0},
		{"problem", bench.Report{Version: bench.ReportVersion, Problems: []string{"wrong"}}, false, 1},
		{"missed target", bench.Report{Version: bench.ReportVersion, Checks: missed}, false, 0},
		{"missed target, strict", bench.Report{Version: bench.ReportVersion, Checks: missed}, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := runFlags{strict: tt.strict, json: filepath.Join(t.TempDir(), "out.json")}
			var stdout, stderr bytes.Buffer
			if got := exitCode(f.deliver(&tt.report, &stdout), &stderr); got != tt.code {
				t.Errorf("exit code = %d, want %d; output:\n%s%s", got, tt.code, &stdout, &stderr)
			}
			checkShow(t, f.json, stdout.String())
		})
	}
}

// checkShow wants a saved report to look as it did when it was made.
func checkShow(t *testing.T, file, want string) {
	t.Helper()
	var stdout bytes.Buffer
	if err := run(context.Background(), []string{"show", file}, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got := stdout.String(); got != want {
		t.Errorf("show prints:\n%s\nwant what run printed:\n%s", got, want)
	}
}

func TestCommands(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.json")
	write(t, old, `{"version":0}`)
	full := t.TempDir()
	write(t, filepath.Join(full, "file"), "")
	for _, tt := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{nil, 2, "", "no command"},
		{[]string{"help"}, 0, "Exit status: 0", ""},
		{[]string{"run", "-h"}, 0, "", "-corpus"},
		{[]string{"sleep"}, 2, "", `unknown command "sleep"`},
		{[]string{"show"}, 2, "", "which report?"},
		{[]string{"show", old}, 2, "", "it has version 0, this program reads 1"},
		{[]string{"corpus"}, 2, "", "--out is missing"},
		{[]string{"corpus", "--out", full}, 2, "", "is not empty"},
		{[]string{"corpus", "--out", t.TempDir(), "--files", "5"}, 0, "15 files, ", ""},
	} {
		var stdout, stderr bytes.Buffer
		code := exitCode(run(context.Background(), tt.args, &stdout, &stderr), &stderr)
		if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q; want %d, %q, %q",
				tt.args, code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
		}
	}
}

func TestHelpIsNoFailure(t *testing.T) {
	_, err := readRunFlags([]string{"-h"}, io.Discard)
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error = %v, want %v", err, flag.ErrHelp)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
