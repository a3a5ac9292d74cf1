package service_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
)

// told searches for a word, and returns how many documents have it and why the
// answer may be incomplete.
func told(t *testing.T, s *service.Service, text string) (matches int, reasons []string) {
	t.Helper()
	q, err := syntax.Parse(text, query.Standard)
	if err != nil {
		t.Fatal(err)
	}
	o := search.Options{Display: -1, Report: report.New(time.Now)}
	out := s.Search(t.Context(), q, o, answer.SinkFunc(func(m []query.Match) error {
		matches += len(m)
		return nil
	}))
	if out.Err != nil {
		t.Fatalf("search %q: %v", text, out.Err)
	}
	for _, skipped := range o.Report.Progress().Skipped {
		reasons = append(reasons, skipped.Reason)
	}
	return matches, reasons
}

func shardsOf(t *testing.T, s *service.Service, name string) []uint32 {
	t.Helper()
	return find(t, s, name).Shards
}

// A search that meets damage shows nothing of it and says so. The repository is
// indexed anew without a request, the shard is dropped, and the other
// repository stays where it is.
func TestDamageIsMended(t *testing.T) {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes = t.TempDir(), 0
	reopen := func() *service.Service {
		t.Helper()
		s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopen()
	root := t.TempDir()
	for _, name := range []string{"kiln", "mill"} {
		commit(t, filepath.Join(root, name), "a.txt", "fired "+name)
		if _, err := s.Repositories().Add(t.Context(), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Repositories().Sync(t.Context(), name, ignore); err != nil {
			t.Fatal(err)
		}
	}
	damaged, other := shardsOf(t, s, "kiln"), shardsOf(t, s, "mill")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	flipFirst(t, set.Data)

	s = reopen()
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if n, reasons := told(t, s, "type:file fired"); n != 1 || !slices.Contains(reasons, "backend-missing") {
		t.Fatalf("got %d documents and %q skipped, want the one that is whole and backend-missing", n, reasons)
	}
	if h := s.GraphQL().Store.Health(); len(h.Aside) != 1 || h.Aside[0].Shard != damaged[0] {
		t.Fatalf("got %+v set aside, want shard %d", h.Aside, damaged[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var syncing sync.WaitGroup
	y := &service.Syncer{Service: s, Stay: true, Log: zerolog.Nop(), Display: progress.Lines(&bytes.Buffer{}, time.Now)}
	syncing.Go(func() { y.Run(ctx, nil, func() {}) })
	for len(s.GraphQL().Store.Health().Aside) > 0 {
		select {
		case <-t.Context().Done():
			t.Fatal("the shard is not made anew")
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	syncing.Wait()
	if n, reasons := told(t, s, "type:file fired"); n != 2 || len(reasons) > 0 {
		t.Errorf("after that: got %d documents and %q skipped, want both and nothing", n, reasons)
	}
	if now := shardsOf(t, s, "kiln"); slices.Equal(now, damaged) {
		t.Errorf("kiln is in shards %v still", now)
	}
	if now := shardsOf(t, s, "mill"); !slices.Equal(now, other) {
		t.Errorf("mill was in shards %v, is in %v", other, now)
	}
}

// flipFirst flips a bit of the first table of a data directory, which is the
// first shard.
func flipFirst(t *testing.T, data string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(data, "index", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables: %q, %v", tables, err)
	}
	table, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	table[20] ^= 1
	if err := os.WriteFile(tables[0], table, 0o644); err != nil {
		t.Fatal(err)
	}
}
