package shard

import (
	"fmt"

	"github.com/trawlsearch/trawl/postings"
)

// A history shard is a shard whose documents are those of commits: the message
// of each, without a path, and behind it the diff of each file that it changed.
// No search of files looks at it. It is written like any other, with AddCommit
// instead of AddDocument.

// commitBlocks is how many blocks a commit takes.
func commitBlocks(message string, files []ChangedFile) int {
	n := postings.BlockCount(len(message))
	for i := range files {
		n += postings.BlockCount(len(files[i].Hunks))
	}
	return n
}

// FitsCommit reports whether a commit fits the shard begun; all of one stands
// in the same shard.
func (w *Writer) FitsCommit(message string, files []ChangedFile) bool {
	return w.header.Blocks+commitBlocks(message, files) <= w.MaxBlocks && !w.full()
}

// AddCommit adds a commit with its message and the files it changed. A shard
// has either commits or other documents. Nothing of it is kept but c.OID, which
// is copied. After an error the shard begun is lost: what is left is Close.
func (w *Writer) AddCommit(c Commit, message string, files []ChangedFile) error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.addCommit(c, message, files); err != nil {
		w.failed = fmt.Errorf("write shard: %w", err)
	}
	return w.failed
}

func (w *Writer) addCommit(c Commit, message string, files []ChangedFile) error {
	if len(w.commits) == 0 && len(w.docs) > 0 {
		return fmt.Errorf("a commit among other documents")
	}
	if err := w.addDocument(Document{Repository: c.Repository}, []byte(message), true); err != nil {
		return err
	}
	row := commitRow{Commit: c}
	row.OID = append([]byte(nil), c.OID...)
	for i := range files {
		f := &files[i]
		d := Document{Repository: c.Repository, Path: f.Path, Mode: f.Mode, Reason: f.Reason}
		if err := w.addDocument(d, f.Hunks, true); err != nil {
			return err
		}
		old := f.OldPath
		if old == f.Path || len(old) > MaxPathBytes {
			old = ""
		}
		w.pathBytes += len(old)
		row.files = append(row.files, fileRow{f.Status, old})
	}
	w.commits = append(w.commits, row)
	return nil
}

// writeCommits writes the commit table.
func (w *Writer) writeCommits() error {
	for page, rows := 0, w.commits; len(rows) > 0; page++ {
		n := commitPageLength(rows)
		if err := w.run.Set(keyCommitPage(w.header.ID, page), encodeCommitPage(rows[:n])); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// oldPaths returns the other path of documents that have two.
func (w *Writer) oldPaths() map[int]string {
	out := map[int]string{}
	doc := 0
	for i := range w.commits {
		doc++ // the message
		for _, f := range w.commits[i].files {
			if f.oldPath != "" {
				out[doc] = f.oldPath
			}
			doc++
		}
	}
	return out
}
