package migrations_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// table returns the rows of the table of docs/upgrade.md whose first column is called head.
func table(t *testing.T, head string) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/upgrade.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n| "+head+" |")
	if !found {
		t.Fatalf("docs/upgrade.md has no table with the column %q", head)
	}
	var rows []string
	for _, line := range strings.Split(rest, "\n")[2:] {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		rows = append(rows, line)
	}
	return rows
}

// TestUpgradePage: the tables of docs/upgrade.md are what the program says of its formats.
func TestUpgradePage(t *testing.T) {
	var formats, indexes []string
	for i, f := range store.Formats() {
		if f.Version != store.FormatVersion(i+1) {
			t.Errorf("format %d stands in place %d", f.Version, i)
		}
		formats = append(formats, fmt.Sprintf("| %d | %s | %s | %s |", f.Version, f.Name, f.Upgrade, f.Releases))
	}
	for i, f := range shard.IndexFormats() {
		if f.Version != shard.IndexVersion(i+1) {
			t.Errorf("index version %d stands in place %d", f.Version, i)
		}
		indexes = append(indexes, fmt.Sprintf("| %d | %s | %s | %s |", f.Version, f.Name, f.Gain, f.Releases))
	}
	if n := len(formats); store.FormatVersion(n) != store.FormatNewest || shard.IndexVersion(len(indexes)) != shard.IndexNewest {
		t.Errorf("there are %d formats and %d index versions, want %d and %d", n, len(indexes), store.FormatNewest, shard.IndexNewest)
	}
	for head, want := range map[string][]string{"format version": formats, "index version": indexes} {
		if got, want := strings.Join(table(t, head), "\n"), strings.Join(want, "\n"); got != want {
			t.Errorf("docs/upgrade.md, table of %ss:\n%s\nthe program says:\n%s", head, got, want)
		}
	}
}
