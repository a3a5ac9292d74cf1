package shard_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

func TestMemory(t *testing.T) {
	var m shard.Memory
	var texts [][]byte
	for i := range 700 { // more than one page of documents
		text := bytes.Repeat([]byte(fmt.Sprintf("line %d\n", i)), i%17*100)
		texts = append(texts, text)
		m.Add(shard.Document{Repository: 7, Path: fmt.Sprintf("dir/f%d", i), OID: []byte{byte(i)}, Mode: 0o100644, Language: []string{"", "Go"}[i%2]}, text)
	}
	if m.Len() != 700 || m.Bytes() != len(bytes.Join(texts, nil)) {
		t.Fatalf("got %d documents of %d bytes, want 700 of %d", m.Len(), m.Bytes(), len(bytes.Join(texts, nil)))
	}
	v, err := m.View()
	if err != nil || !v.InMemory() || m.Len() != 0 {
		t.Fatalf("got %v, in memory: %v, left: %d", err, v.InMemory(), m.Len())
	}
	docs, err := v.Documents()
	if err != nil || docs.Len() != 700 {
		t.Fatalf("got %d documents, %v", docs.Len(), err)
	}
	text := v.Text()
	defer text.Close()
	block := 0
	for i, want := range texts {
		got, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("text of document %d: got %.40q, %v, want %.40q", i, got, err, want)
		}
		if d := docs.At(i); d.Path != fmt.Sprintf("dir/f%d", i) || d.Language != []string{"", "Go"}[i%2] || d.Repository != 7 || d.OID[0] != byte(i) {
			t.Errorf("document %d: got %+v", i, d)
		}
		lines := 0
		for range postings.BlockCount(len(want)) {
			if v.DocOf()[block] != uint16(i) {
				t.Errorf("block %d: got document %d, want %d", block, v.DocOf()[block], i)
			}
			lines += int(v.Newlines()[block])
			block++
		}
		if lines != bytes.Count(want, []byte{'\n'}) {
			t.Errorf("document %d: got %d newlines", i, lines)
		}
	}
	if _, err := text.Slice(0, uint32(len(bytes.Join(texts, nil)))+1); err == nil {
		t.Error("a slice beyond the end: got no error")
	}
	if v.HasSymbols() || v.Dead != nil || v.Away(7) != nil || v.ScanAlways() != nil {
		t.Errorf("got symbols, dead documents, branches or blocks to scan in %+v", v)
	}
}
