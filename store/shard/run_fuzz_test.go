package shard_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store/shard"
)

// FuzzImport has a store take in anything, and tables of which some bytes were changed,
// with the hash that they have. Nothing is taken in but the tables as they were.
//
//	go test ./store/shard -run XXX -fuzz FuzzImport
func FuzzImport(f *testing.F) {
	s := openSite(f, vfs.NewMem())
	h := s.write(f, 1, 40)
	var tables [][]byte
	for _, part := range []shard.Part{shard.PartText, shard.PartSymbols} {
		data := s.bytes[fmt.Sprint(h.ID, part)]
		tables = append(tables, data)
	}
	for i, table := range tables {
		f.Add(table[:min(len(table), 5000)], uint8(i), uint32(0), []byte(nil))
		for at := 0; at < len(table); at += len(table) / 20 {
			f.Add([]byte(nil), uint8(i), uint32(at), []byte{1, 2, 3})
		}
		f.Add([]byte(nil), uint8(i), uint32(len(table)-60), []byte{0xff, 0xff, 0xff})
		f.Add([]byte(nil), uint8(i), uint32(0), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, raw []byte, which uint8, at uint32, change []byte) {
		data, n := raw, int(which)%len(tables)
		if len(raw) == 0 {
			data = bytes.Clone(tables[n])
			for i, b := range change[:min(len(change), 64)] {
				data[(int(at)+i)%len(data)] ^= b
			}
		}
		taken := false
		to := s.to
		to.FS, to.Written = vfs.NewMem(), nil
		if err := to.FS.MkdirAll("index", 0o700); err != nil {
			t.Fatal(err)
		}
		to.Ingest = func(context.Context, string) error {
			taken = true
			return nil
		}
		to.Update = func(func(*pebble.DB) error) error { return nil }
		part := shard.PartText
		if n == 1 {
			part = shard.PartSymbols
		}
		err := to.Import(t.Context(), shard.File{Shard: h.ID, Part: part, Content: contentOf(data)}, give(data))
		if (err == nil) != taken {
			t.Errorf("got %v, and that the run was taken in is %v", err, taken)
		}
		if same := bytes.Equal(data, tables[n]); same != (err == nil) {
			t.Errorf("got %v, and that it is the table as it was written is %v", err, same)
		}
	})
}
