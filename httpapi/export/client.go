package export

import (
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/query"
)

// FromClient returns a match of the stream as the search made it, as far as rows
// need it. Its content is that of chunks: a search with Params.Chunks has it.
func FromClient(m client.Match) query.Match {
	repo := &query.Repository{Name: m.Repository, Description: m.Description}
	rev := ""
	if len(m.Branches) > 0 {
		rev = m.Branches[0]
	}
	switch m.Type {
	case "repo":
		return &query.RepoMatch{Repo: repo, Rev: rev}
	case "commit":
		return &query.CommitMatch{Repo: repo, OID: m.OID, Message: m.Message, Author: query.Signature{Name: m.AuthorName, Date: m.AuthorDate}}
	case "person", "team":
		return &query.OwnerMatch{Repo: repo, Handle: m.Handle, Email: m.Email, IsTeam: m.Type == "team"}
	}
	out := &query.FileMatch{Repo: repo, Path: m.Path, Commit: m.Commit, Rev: rev}
	for _, s := range m.Symbols {
		out.Symbols = append(out.Symbols, query.Symbol{Name: s.Name, Line: unsigned(s.Line), Column: symbolColumn(s.URL)})
	}
	for _, c := range m.ChunkMatches {
		chunk := query.Chunk{Content: []byte(c.Content), Start: location(c.ContentStart)}
		for _, r := range c.Ranges {
			chunk.Ranges = append(chunk.Ranges, query.Range{Start: location(r.Start), End: location(r.End)})
		}
		out.Chunks = append(out.Chunks, chunk)
	}
	return out
}

// symbolColumn reads the column from the address of a symbol, which ends with
// ?L3:5-3:9 and counts from one. No other member has it.
func symbolColumn(address string) uint32 {
	var line, column uint32
	place := address[strings.LastIndexByte(address, '?')+1:]
	if n, err := fmt.Sscanf(place, "L%d:%d-", &line, &column); n < 2 || err != nil || column == 0 {
		return 0
	}
	return column - 1
}

func location(l client.Location) query.Location {
	return query.Location{Offset: unsigned(l.Offset), Line: unsigned(l.Line), Column: unsigned(l.Column)}
}

// unsigned takes numbers that no server should send for zero.
func unsigned(n int) uint32 {
	const most = 1<<31 - 1
	return uint32(min(max(n, 0), most))
}
