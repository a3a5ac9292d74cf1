package main

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/needs"
)

func TestPrograms(t *testing.T) {
	all, err := programs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Version == "" || strings.Contains(p.Version, "cannot be run") {
			t.Errorf("%s %s, want its version", p.Name, p.Version)
		}
	}
	t.Run("none", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		said, err := programs(t.Context())
		if err == nil || said[0].Version != "that cannot be run" || !strings.HasPrefix(said[1].Version, "not found") {
			t.Errorf("without programs: %v", said)
		}
	})
	t.Run("symbols", func(t *testing.T) {
		needs.Program(t, "ctags-universal", "ctags")
		all, err := programs(t.Context())
		if got := all[1].Version; err != nil || strings.ContainsAny(got, " ,(") {
			t.Errorf("the version of universal-ctags is %q, %v", got, err)
		}
	})
}
