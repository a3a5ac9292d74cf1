package code

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// FindIn returns the document of a path and its run, nil if there is none.
func FindIn(runs []DocumentRun, path string) (r *DocumentRun, i int) {
	for n := range runs {
		if i, ok := runs[n].Find(path); ok {
			return &runs[n], i
		}
	}
	return nil, 0
}

// EntryIn finds what stands at a clean path of the documents, as Reader.At does
// in git. Directories have no object id: the store has files only.
func EntryIn(runs []DocumentRun, path string) (e git.Entry, ok bool) {
	if r, i := FindIn(runs, path); r != nil {
		return r.entry(i, path[strings.LastIndexByte(path, '/')+1:]), true
	}
	for range childrenOf(runs, path) {
		return git.Entry{Mode: git.ModeTree, Name: path[strings.LastIndexByte(path, '/')+1:]}, true
	}
	return e, path == ""
}

// EntriesIn returns the entries of a directory of the documents, in git's order.
// grow is asked for the bytes that they hold; the error is git.ErrTooLarge if it
// refuses them.
func EntriesIn(runs []DocumentRun, dir string, grow func(bytes int64) bool) ([]git.Entry, error) {
	var out []git.Entry
	directories := map[string]bool{}
	for d, rest := range childrenOf(runs, dir) {
		name, _, deep := strings.Cut(rest, "/")
		if deep && directories[name] {
			continue
		}
		if !grow(int64(entryBytes + len(name))) {
			return nil, fmt.Errorf("%w: directory %q", git.ErrTooLarge, dir)
		}
		name = strings.Clone(name)
		if !deep {
			out = append(out, d.run.entry(d.i, name))
			continue
		}
		directories[name] = true
		out = append(out, git.Entry{Mode: git.ModeTree, Name: name})
	}
	slices.SortFunc(out, func(a, b git.Entry) int { return strings.Compare(sortName(a), sortName(b)) })
	return out, nil
}

// sortName is what git sorts an entry by.
func sortName(e git.Entry) string {
	if e.Directory() {
		return e.Name + "/"
	}
	return e.Name
}

// runDocument is a document of a run.
type runDocument struct {
	run *DocumentRun
	i   int
}

// childrenOf yields the documents below a directory, with their paths from there.
func childrenOf(runs []DocumentRun, dir string) func(yield func(runDocument, string) bool) {
	prefix := dir + "/"
	if dir == "" {
		prefix = ""
	}
	return func(yield func(runDocument, string) bool) {
		for n := range runs {
			r := &runs[n]
			for i := r.First; i < r.End; i++ {
				rest, ok := strings.CutPrefix(r.Table.Path(i), prefix)
				if ok && r.Lives(i) && !yield(runDocument{r, i}, rest) {
					return
				}
			}
		}
	}
}

// entry is the entry of a document in its directory.
func (r *DocumentRun) entry(i int, name string) git.Entry {
	return git.Entry{Mode: r.Table.Mode[i], Name: name, OID: hex.EncodeToString(r.Table.OID(i))}
}

// ErrNotIndexed says that the store does not hold the bytes of a file: it is not
// searched, or its text was converted from another encoding.
var ErrNotIndexed = errors.New("the bytes of the file are not in the index")

// copyBytes is how much text is read at once.
const copyBytes = 256 << 10

// CopyFile writes the bytes of the file behind a document. They are its text
// and perhaps a byte order mark before it. The object ID shows whether they are
// complete: the bytes written before ErrNotIndexed are not the file.
func (r *DocumentRun) CopyFile(w io.Writer, i int) (err error) {
	size, start, end := r.Table.FileBytes[i], r.Table.TextStart[i], r.Table.TextStart[i]+r.Table.TextBytes[i]
	mark := []byte("\xef\xbb\xbf")
	if size == end-start {
		mark = nil
	}
	if r.Table.Reason[i] != shard.Searchable || size != end-start+uint32(len(mark)) {
		return ErrNotIndexed
	}
	oid := r.Table.OID(i)
	sum := hash.Hash(sha1.New())
	if len(oid) == sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", size)
	both := io.MultiWriter(w, sum)
	if _, err := both.Write(mark); err != nil {
		return err
	}
	t := r.View.Text()
	defer func() { err = errors.Join(err, t.Close()) }()
	for at := start; at < end; at += copyBytes {
		part, err := t.Slice(at, min(at+copyBytes, end))
		if err != nil {
			return err
		}
		if _, err := both.Write(part); err != nil {
			return err
		}
	}
	if !bytes.Equal(sum.Sum(nil), oid) {
		return ErrNotIndexed
	}
	return nil
}
