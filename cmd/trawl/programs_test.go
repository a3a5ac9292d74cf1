package main

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/needs"
)

func TestPrograms(t *testing.T) {
	for _, p := range programs(t.Context()) {
		if p.Version == "" || strings.Contains(p.Version, "cannot be run") {
			t.Errorf("%s %s, want its version", p.Name, p.Version)
		}
	}
	t.Run("none", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		said := programs(t.Context())
		if said[0].Version != "that cannot be run" || !strings.HasPrefix(said[1].Version, "not found") {
			t.Errorf("without programs: %v", said)
		}
	})
	t.Run("symbols", func(t *testing.T) {
		needs.Program(t, "ctags-universal", "ctags")
		if got := programs(t.Context())[1].Version; strings.ContainsAny(got, " ,(") {
			t.Errorf("the version of universal-ctags is %q", got)
		}
	})
}
