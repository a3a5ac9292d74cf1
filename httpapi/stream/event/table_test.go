package event

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/httpapi/export"
	"github.com/trawlsearch/trawl/query"
)

// The page makes the table of the matches of a search, the command of those that
// it gets from the stream: both tables are one.
func TestExportIsTheSameOnBothSidesOfTheStream(t *testing.T) {
	broken := glazeContent()
	broken.Chunks = append(broken.Chunks, query.Chunk{Content: []byte("\xff=\xfe glaze\r\nx\r\n"), Start: at(200, 9, 0),
		Ranges: []query.Range{span(at(202, 9, 4), at(212, 10, 1))}})
	broken.Rev = "=cmd"
	encoder := Encoder{Chunks: true, Now: func() time.Time { return commitNow }}
	for _, m := range []query.Match{
		glazeContent(), broken,
		&query.FileMatch{Repo: kiln, Path: "a.go", Commit: kilnCommit, Symbols: []query.Symbol{{Name: "½Fire", Kind: "method", Line: 3, Column: 5}}},
		&query.FileMatch{Repo: kiln, Path: "docs/a,b.md", Commit: kilnCommit, Rev: "v2"},
		&query.RepoMatch{Repo: &query.Repository{Name: "r", Description: "\"hot\"\nand more"}, Rev: "v2", HasRev: true},
		&query.CommitMatch{Repo: kiln, OID: kilnCommit, Message: "Stoke it\n\nmore", Author: query.Signature{Name: "Ada", Date: kiln.LastFetched}, Body: "Stoke it\n\nmore"},
		&query.OwnerMatch{Repo: kiln, Handle: "ada"}, &query.OwnerMatch{Repo: kiln, Handle: "lab/kiln", IsTeam: true}, &query.OwnerMatch{Repo: kiln, Email: "a@example.org"},
	} {
		var sent client.Match
		text := encoder.Append(nil, m)
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatalf("match %s: %v", text, err)
		}
		if server, command := tableOf(t, m), tableOf(t, export.FromClient(sent)); server != command {
			t.Errorf("match %s\nthe server's table %q\nthe command's      %q", text, server, command)
		}
	}
}

func tableOf(t *testing.T, m query.Match) string {
	t.Helper()
	var out strings.Builder
	table := export.NewTable(&out, nil)
	if err := table.WriteMatch(m); err != nil {
		t.Fatal(err)
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
