package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	// resyncRounds changes are made and indexed one after the other.
	resyncRounds = 3
	// resyncFiles is how many files each of them touches.
	resyncFiles = 10
	// resyncMarker is the word that changed files get. It stands behind a
	// semicolon so that no pattern for runs of words reaches into it, which
	// keeps a data directory fit for another run against the same corpus.
	resyncMarker = "trawlbenchresync"
	// maxResyncFileBytes keeps the choice to files people edit by hand.
	maxResyncFileBytes = 256 << 10
)

// Resync is what it took to follow small changes.
type Resync struct {
	FilesChanged int     `json:"filesChanged"`
	Rounds       []Usage `json:"rounds"`
}

// resync commits changes to the clone and runs trawl index after each.
func resync(ctx context.Context, t *trawl, s *source, scratch string) (*Resync, error) {
	groups := chooseFiles(s.files, resyncRounds, resyncFiles)
	if groups == nil {
		return nil, fmt.Errorf("resync: the corpus has fewer than %d small text files", resyncRounds*resyncFiles)
	}
	r := &Resync{FilesChanged: resyncFiles}
	for _, group := range groups {
		if err := s.commitChange(ctx, group, scratch); err != nil {
			return nil, fmt.Errorf("resync: commit a change: %w", err)
		}
		u, err := t.index(ctx, s.clone)
		if err != nil {
			return nil, fmt.Errorf("resync: %w", err)
		}
		r.Rounds = append(r.Rounds, u)
	}
	return r, nil
}

// chooseFiles returns groups of files spread evenly over the corpus, the same
// for the same corpus, or nil if there are too few.
func chooseFiles(files []file, groups, each int) [][]file {
	var fit []file
	for _, f := range files {
		if f.class == text && f.bytes > 0 && f.bytes <= maxResyncFileBytes {
			fit = append(fit, f)
		}
	}
	if len(fit) < groups*each {
		return nil
	}
	out := make([][]file, groups)
	for i := range groups * each {
		out[i%groups] = append(out[i%groups], fit[i*len(fit)/(groups*each)])
	}
	return out
}

// commitChange adds a line to each of the files on the clone's branch. It works
// on objects alone: the clone has no files.
func (s *source) commitChange(ctx context.Context, files []file, scratch string) error {
	git := gitRepo{env: []string{"GIT_DIR=" + s.clone, "GIT_INDEX_FILE=" + filepath.Join(scratch, "resync-index")}}
	var update bytes.Buffer
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(s.tree, f.path))
		if err != nil {
			return err
		}
		if !bytes.HasSuffix(content, []byte("\n")) {
			content = append(content, '\n')
		}
		content = append(content, "; "+resyncMarker+"\n"...)
		object, err := git.feed(ctx, content, "hash-object", "-w", "--stdin")
		if err != nil {
			return err
		}
		fmt.Fprintf(&update, "100644 %s\t%s\x00", object, f.path)
	}
	if _, err := git.run(ctx, "read-tree", "HEAD"); err != nil {
		return err
	}
	if _, err := git.feed(ctx, update.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	tree, err := git.run(ctx, "write-tree")
	if err != nil {
		return err
	}
	commit, err := git.run(ctx, "commit-tree", "-p", "HEAD", "-m", "change "+files[0].path, tree)
	if err != nil {
		return err
	}
	_, err = git.run(ctx, "update-ref", "HEAD", strings.TrimSpace(commit))
	return err
}
