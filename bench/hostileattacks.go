package bench

import "fmt"

// pageOf is a request for a page of the hostile repository.
func pageOf(path string) func() []byte {
	return func() []byte {
		return []byte("GET /" + hostileName + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	}
}

// attacks asks for what is most expensive in the hostile repository. Connections
// without a speed do not read: their clients leave when the time is up.
func (h *hostileRepo) attacks() []attack {
	const slow = 1000 // bytes a second
	bounded := func(name string, connections, bytesPerSecond int, request func() []byte) attack {
		return attack{name: name, wants: wantBounded, connections: connections, bytesPerSecond: bytesPerSecond, request: request}
	}
	search := func(query, patternType string) func() []byte {
		return get("repo:^"+hostileName+"$ count:all "+query, patternType)
	}
	return []attack{
		bounded("page of a file of newlines, clients leave", 4, 0, pageOf("/-/blob/nl.txt")),
		bounded("page of a file of newlines, slow readers", 24, slow, pageOf("/-/blob/nl.txt")),
		bounded("last lines of a file of newlines", 24, slow, pageOf(fmt.Sprintf("/-/blob/nl.txt?L%d", h.of(4<<20)))),
		bounded("page of one long line", 24, slow, pageOf("/-/blob/long.txt")),
		bounded("page of a file that is hard to colour", 100, slow, pageOf("/-/blob/paint.html")),
		bounded("page of a commit of empty lines, slow readers", 24, slow, pageOf("/-/commit/"+h.commit)),
		bounded("page of a comparison of everything", 24, slow, pageOf("/-/compare/"+h.tip+"~40..."+h.tip)),
		bounded("page of a large directory", 24, slow, pageOf("/-/tree/wide")),
		bounded("page of 20,000 branches", 24, slow, pageOf("/-/branches")),
		bounded("hundreds of pages at once", 300, slow, pageOf("/-/blob/text/0.txt")),
		bounded("history of a large file", 24, slow, pageOf("/-/commits/blobs/0.txt")),
		bounded("raw deltified file at 1 KB/s", 4, slow, pageOf("/-/raw/delta.bin")),
		bounded("raw deltified file, 200 readers", 200, slow, pageOf("/-/raw/delta.bin")),
		bounded("archives at 1 KB/s", 4, slow, pageOf("/-/raw?format=zip")),
		bounded("archives, clients leave", 40, 0, pageOf("/-/raw?format=tar")),
		bounded("names of a large directory", 100, slow, pageOf("/-/raw/wide")),
		bounded("archives, 100 readers", 100, slow, pageOf("/-/raw/text?format=tar")),
		bounded("costly regexp over large files", 100, 0, search(`type:file (a|b|ab)+(c|d|cd)+[a-h ]{20,40}zz`, "regexp")),
		bounded("case-insensitive regexp over large files", 100, 0, search(`type:file (?i)(ab?c|b?cd)[^\n]*(?:ef|fe)[^\n]*q`, "regexp")),
		bounded("matches across lines of large files", 100, slow, search(`type:file (?s)a b.{100,200}c d`, "regexp")),
		bounded("diffs with file:has.content", 60, 0, search("type:diff file:has.content(x) a", "keyword")),
		bounded("diff searches", 100, 0, search("type:diff /[ab]c[de]f/", "keyword")),
		bounded("diff searches of a revision through git", 60, 0, search("type:diff rev:r/00001 index:no /[ab]c[de]f/", "keyword")),
		bounded("commit searches", 100, 0, search("type:commit /[ab]c?/", "keyword")),
		bounded("revisions that are not indexed", 60, 0, search("rev:"+h.tip+"~20 type:file /[ab]c[de]f /", "keyword")),
		bounded("GraphQL, 240 comparisons", 100, 0, graphqlOf(many(240, fmt.Sprintf(
			`c#:comparison(base:\"%s~40\",head:\"%s\"){fileDiffs(first:100){nodes{newPath hunks{body}}}}`, h.tip, h.tip), " "))),
		bounded("GraphQL, large files", 60, slow, graphqlOf(many(12, `f#:commit(rev:\"HEAD\"){file(path:\"blobs/0.txt\"){content}}`, " "))),
		bounded("GraphQL, blame of a large file", 60, 0, graphqlOf(`commit(rev:\"HEAD\"){blob(path:\"blobs/0.txt\"){blame(startLine:1,endLine:100000){message}}}`)),
		bounded("GraphQL, 240 searches", 100, 0, post(`{"query":"{`+many(240, `s#:search(version:V3,query:\"type:file repo:^`+hostileName+`$ count:all /[ab]c[de]f/\"){results{matchCount}}`, " ")+`"}`)),
		bounded("GraphQL, searches that keep their matches", 60, slow, post(`{"query":"{`+many(20, `s#:search(version:V3,query:\"type:file repo:^`+hostileName+`$ count:all [a-h]+ patterntype:regexp\"){results{results{... on FileMatch{lineMatches{preview offsetAndLengths}}}}}`, " ")+`"}`)),
		bounded("GraphQL, lines as rows of a table", 60, slow, graphqlOf(many(20, `f#:commit(rev:\"HEAD\"){file(path:\"nl.txt\"){highlight(disableTimeout:true){html}}}`, " "))),
		bounded("GraphQL, histories of 5,000 commits", 100, slow, graphqlOf(many(8, `c#:commit(rev:\"HEAD\"){ancestors(first:5000){nodes{oid message author{date person{name email}} parents{oid}}}}`, " "))),
		bounded("GraphQL, a large directory again and again", 60, slow, graphqlOf(many(20, `c#:commit(rev:\"HEAD\"){tree(path:\"wide\"){entries{name path url canonicalURL ... on GitBlob{content}}}}`, " "))),
		bounded("GraphQL, all branches", 60, slow, graphqlOf(`gitRefs(first:20000){nodes{name target{oid}}}`)),
	}
}

// graphqlOf asks for fields of the hostile repository.
func graphqlOf(fields string) func() []byte {
	return post(`{"query":"{repository(name:\"` + hostileName + `\"){` + fields + `}}"}`)
}
