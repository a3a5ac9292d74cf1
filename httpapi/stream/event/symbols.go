package event

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// appendSymbols appends a match whose symbols matched.
func (e *Encoder) appendSymbols(dst []byte, m *query.FileMatch) []byte {
	bare := *m
	bare.PathRanges = nil
	dst = append(dst, `{"type":"symbol"`...)
	dst = e.appendDocument(dst, &bare)
	dst = appendStringMember(dst, "language", m.Language)
	dst = append(dst, `,"symbols":[`...)
	address := symbolURL(m)
	for i, s := range m.Symbols {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendSymbol(dst, address, s)
	}
	return append(dst, "]}"...)
}

func appendSymbol(dst []byte, address string, s query.Symbol) []byte {
	line := strconv.FormatUint(uint64(s.Line), 10)
	from := strconv.FormatUint(uint64(s.Column)+1, 10)
	// The end counts the name's bytes, not its runes: clients expect it.
	to := strconv.FormatUint(uint64(s.Column)+uint64(len(s.Name))+1, 10)
	dst = appendString(append(dst, `{"url":`...), address+"?L"+line+":"+from+"-"+line+":"+to)
	dst = appendString(append(dst, `,"name":`...), s.Name)
	dst = appendString(append(dst, `,"containerName":`...), s.Container)
	dst = appendString(append(dst, `,"kind":`...), KindWord(s.Kind))
	return append(append(append(dst, `,"line":`...), line...), '}')
}

// symbolURL is the document's page on this server.
func symbolURL(m *query.FileMatch) string {
	path := "/" + m.Repo.Name
	if m.Rev != "" {
		path += "@" + m.Rev
	}
	return (&url.URL{Path: path + "/-/blob/" + m.Path}).EscapedPath()
}

// KindWord returns a symbol's kind as the API writes it, such as ENUMMEMBER.
func KindWord(k query.SymbolKind) string {
	if k == "" {
		return "UNKNOWN"
	}
	return strings.ToUpper(strings.ReplaceAll(string(k), "-", ""))
}

// symbolCost is the most that a symbol takes as JSON beside its texts.
const symbolCost = 200

// divideSymbols returns m as several matches of the same document with a share
// of its symbols each.
func divideSymbols(m *query.FileMatch) []query.Match {
	var out []query.Match
	address := len(symbolURL(m))
	room := 0
	var last *query.FileMatch
	for i, s := range m.Symbols {
		cost := symbolCost + byteCost*(address+len(s.Name)+len(s.Container))
		if cost > room {
			part := *m
			part.Chunks, part.PathRanges, part.Symbols, part.Debug = nil, nil, m.Symbols[i:i], ""
			last = &part
			out = append(out, last)
			room = maxPartBytes
		}
		last.Symbols = last.Symbols[:len(last.Symbols)+1]
		room -= cost
	}
	return out
}
