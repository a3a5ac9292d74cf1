package shard

import (
	"bytes"
	"errors"
	"testing"

	"github.com/trawlsearch/trawl/store/engine"
)

// FuzzDocuments: no page of a document table makes the decoder panic or take
// more than some times its size; a page that it takes is found again when its
// documents are encoded.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte{})
	f.Add(encodePage([]Document{
		{Repository: 1, Path: "a/b.go", Mode: 0o100644, FileBytes: 9, TextBytes: 5000, Language: "Go", OID: []byte("12345678901234567890")},
		{Repository: 1, Path: "a/c.txt", Mode: 0o120000, FileBytes: 3, Encoding: "UTF-16", Reason: 1, Quality: 3, OID: []byte{1}},
	}))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 'x'})
	f.Fuzz(func(t *testing.T, page []byte) {
		d := newDocuments()
		if err := d.addPage(page); err != nil {
			if !errors.Is(err, engine.ErrCorrupt) {
				t.Fatalf("%x: %v, want ErrCorrupt", page, err)
			}
			return
		}
		d.seal()
		var docs []Document
		for i := range d.Len() {
			docs = append(docs, Document{
				Repository: d.Repository[i], Path: d.Path(i), Mode: d.Mode[i], FileBytes: d.FileBytes[i], TextBytes: d.TextBytes[i],
				Language: d.Words[d.Language[i]], Encoding: d.Words[d.Encoding[i]], Reason: d.Reason[i], Quality: d.Quality[i], OID: d.OID(i),
			})
		}
		again := newDocuments()
		if err := again.addPage(encodePage(docs)); err != nil || again.Len() != d.Len() {
			t.Fatalf("%x: %d documents, encoded again %d, %v", page, d.Len(), again.Len(), err)
		}
		again.seal()
		for i := range docs {
			if again.Path(i) != docs[i].Path || !bytes.Equal(again.OID(i), docs[i].OID) || again.TextBytes[i] != docs[i].TextBytes {
				t.Fatalf("%x: document %d is %q, encoded again %q", page, i, docs[i].Path, again.Path(i))
			}
		}
	})
}
