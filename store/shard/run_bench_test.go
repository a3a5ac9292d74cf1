package shard_test

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// BenchmarkRun exports a shard of the texts in a folder, stores it in a folder, and
// takes it in from there. They are those of this repository, or of a larger folder:
//
//	TRAWL_TREE=linux go test ./store/shard -run XXX -bench BenchmarkRun
func BenchmarkRun(b *testing.B) {
	tree, err := filepath.Abs(cmp.Or(os.Getenv("TRAWL_TREE"), "../.."))
	if err != nil {
		b.Fatal(err)
	}
	b.Chdir(b.TempDir())
	s := openSite(b, disk.OS())
	s.to.Written = nil
	w := shard.NewWriter(s.to, postings.NewBuilder())
	w.MaxListBytes = 1 << 30
	defer w.Close()
	err = filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		if !w.Fits(len(text)) {
			return fs.SkipAll
		}
		return w.AddDocument(shard.Document{Repository: 1, Path: path, FileBytes: uint32(len(text))}, text, true)
	})
	if err != nil {
		b.Fatal(err)
	}
	h, err := w.Finish(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	st := object.NewFolder(disk.OS(), "objects")
	f, err := s.to.Export(b.Context(), s.engine.DB, h.ID, shard.PartText)
	if err != nil {
		b.Fatal(err)
	}
	in, err := os.Open(f.Path)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"export", func() error {
			again, err := s.to.Export(b.Context(), s.engine.DB, h.ID, shard.PartText)
			if err != nil {
				return err
			}
			return os.Remove(again.Path)
		}},
		{"upload", func() error { return st.Upload(b.Context(), "1", in, f.Content) }},
		{"download", func() error { return st.Download(b.Context(), "1", io.Discard, f.Content) }},
		{"check", func() error {
			return engine.CheckRun(b.Context(), disk.OS(), f.Path, s.to.Options, func([]byte) error { return nil })
		}},
		{"import", func() error {
			to := s.to
			to.Update = func(func(*pebble.DB) error) error { return nil } // what is there is the same
			return to.Import(b.Context(), f.File, func(w io.Writer) error { return st.Download(b.Context(), "1", w, f.Content) })
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(f.Size)
			for b.Loop() {
				if err := c.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
