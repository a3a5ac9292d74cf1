package navigate

import (
	"bytes"
	"context"
	"errors"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
	"github.com/trawlsearch/trawl/store/text"
)

// The limits of what is read for one answer, in bytes: of one file, and of all. Of
// the files of a commit that is not indexed, so many are read through git.
const (
	maxTextBytes  = 2 << 20
	maxTextsBytes = 16 << 20
	maxGitFiles   = 10
)

// texts reads the lines of definitions.
type texts struct {
	st     *store.Store
	budget *git.Budget
	// left is how many bytes may still be read.
	left int
}

// fill reads the lines of results, and with comments what stands beside them. A file
// that cannot be read leaves its results without.
func (t *texts) fill(ctx context.Context, results []*Result, comments bool) error {
	type source struct{ repository, commit string }
	files := map[source]map[string][]*Result{}
	for _, r := range results {
		of := source{r.Repository, r.Commit}
		if files[of] == nil {
			files[of] = map[string][]*Result{}
		}
		files[of][r.Path] = append(files[of][r.Path], r)
	}
	sn := t.st.Snapshot()
	defer sn.Close()
	for of, paths := range files {
		rec, err := sn.Repository(of.repository)
		if errors.Is(err, store.ErrNotFound) {
			continue // gone since
		}
		if err != nil {
			return err
		}
		if rec.Commit() != of.commit {
			t.fromGit(ctx, rec, of.commit, paths, comments)
			continue
		}
		runs, err := code.Runs(sn, rec)
		if err != nil {
			return err
		}
		if err := t.fromIndex(ctx, runs, paths, comments); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fromIndex reads files of an indexed commit.
func (t *texts) fromIndex(ctx context.Context, runs []code.DocumentRun, paths map[string][]*Result, comments bool) error {
	found := 0
	for n := range runs {
		r := &runs[n]
		for i := r.First; i < r.End && found < len(paths); i++ {
			of := paths[r.Table.Path(i)]
			if of == nil || !r.Lives(i) || r.Table.Reason[i] != shard.Searchable {
				continue
			}
			found++
			size := int(r.Table.TextBytes[i])
			if size > maxTextBytes || size > t.left || ctx.Err() != nil {
				continue
			}
			t.left -= size
			if err := describe(r, i, of, comments); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe reads the lines of results from their document.
func describe(r *code.DocumentRun, i int, results []*Result, comments bool) (err error) {
	reader := r.View.Text()
	defer func() { err = errors.Join(err, reader.Close()) }()
	start := r.Table.TextStart[i]
	borrowed, err := reader.Slice(start, start+r.Table.TextBytes[i])
	if err != nil {
		return err
	}
	readLines(borrowed, results, comments)
	return nil
}

// fromGit reads files of any commit.
func (t *texts) fromGit(ctx context.Context, rec *store.Repository, commit string, paths map[string][]*Result, comments bool) {
	reader := code.NewReader(t.budget, t.st, rec)
	defer reader.Close()
	files := 0
	for path, results := range paths {
		if files++; files > maxGitFiles || t.left < maxTextBytes {
			return
		}
		e, ok, err := reader.At(ctx, commit, path)
		if err != nil || !ok || e.Directory() {
			continue
		}
		o, err := reader.Object(ctx, e.OID, maxTextBytes)
		if err != nil {
			continue
		}
		t.left -= len(o.Data)
		if decoded, reason := text.Decode(o.Data); reason == "" {
			readLines(decoded.Data, results, comments)
		}
	}
}

// commentLines is how many lines beside a definition are looked at.
const commentLines = 40

// readLines fills in the lines of results of one text, which the caller keeps.
func readLines(data []byte, results []*Result, comments bool) {
	for _, r := range results {
		from := max(1, r.Line-commentLines)
		if !comments {
			from = r.Line
		}
		lines := linesFrom(data, from, r.Line+commentLines)
		at := r.Line - from
		if at >= len(lines) {
			continue
		}
		r.Text = lines[at]
		if comments {
			r.Comment = commentOf(lines, at)
		}
	}
}

// linesFrom returns lines of a text, counted from 1. Of a long one it has the beginning.
func linesFrom(data []byte, first, last int) (out []string) {
	n := 0
	for line := range bytes.Lines(data) {
		if n++; n > last {
			break
		}
		if n >= first {
			line = bytes.TrimRight(line, "\r\n")
			out = append(out, string(line[:min(len(line), longestLine)]))
		}
	}
	return out
}

// longestLine is how much of a line is looked at for a name.
const longestLine = 64 << 10
