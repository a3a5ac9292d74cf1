package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/rogpeppe/go-internal/testscript"
)

// leaveInManifest writes the manifest of a data directory again so that as many
// bytes remain ahead of a record at the end of a block, and removes the seal:
//
//	leave 7 data
func leaveInManifest(ts *testscript.TestScript, _ bool, args []string) {
	left, err := strconv.Atoi(args[0])
	ts.Check(err)
	index := filepath.Join(ts.MkAbs(args[1]), "index")
	manifests, err := filepath.Glob(filepath.Join(index, "MANIFEST-*"))
	ts.Check(err)
	if len(manifests) == 0 {
		ts.Fatalf("%s has no manifest", index)
	}
	newest := slices.Max(manifests)
	manifest, err := os.ReadFile(newest)
	ts.Check(err)
	const block, header = 32 << 10, 7
	n := block - header - left
	// An edit that gives the number of the next file, which later ones give again.
	filler := append(bytes.Repeat([]byte{3, 2}, n/2-1), []byte{3, 0x82, 0}[:2+n%2]...)
	filler[len(filler)-1] &^= 0x80
	var out bytes.Buffer
	w := record.NewWriter(&out)
	_, err = w.WriteRecord(filler)
	ts.Check(err)
	for r := record.NewReader(bytes.NewReader(manifest), 0); ; {
		next, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		one, err := io.ReadAll(next)
		ts.Check(err)
		_, err = w.WriteRecord(one)
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(newest, out.Bytes(), 0o644))
	ts.Check(os.Remove(filepath.Join(index, "SEAL")))
}
