package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/admin"
)

// The list tells which repositories no search finds, as their code host does not list
// them.
func TestListTellsOfHiddenRepositories(t *testing.T) {
	var b bytes.Buffer
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	a := repoCommands{&app{stdout: &b}}
	all := []admin.Repository{{Name: "lab/glaze", HiddenSince: now.Add(-3 * time.Hour), Error: "no such repository"}, {Name: "lab/kiln", Error: "timed out"}}
	if err := a.printTable(all, now); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hidden: its code host has not listed it for 3h; no such repository\n", "timed out\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}
