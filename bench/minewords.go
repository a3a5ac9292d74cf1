package bench

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
)

// treeWords finds the words in the files of a snapshot.
type treeWords struct {
	// files counts those in which a word stands, in lower case.
	files map[string]int
	paths map[string]bool
}

// largestCounted is the largest file whose words count, in bytes.
const largestCounted = 4 << 20

// countWords reads a snapshot.
func countWords(ctx context.Context, git gitRepo, commit string) (_ *treeWords, err error) {
	cmd := git.command(ctx, "archive", "--format=tar", commit)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, withStderr(cmd.Wait())) }()
	w := &treeWords{files: map[string]int{}, paths: map[string]bool{}}
	for files := tar.NewReader(out); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, out)
			return w, err
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		w.paths[h.Name] = true
		if h.Size > largestCounted {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(text, 0) < 0 {
			w.add(text)
		}
	}
}

var (
	identifier = regexp.MustCompile(`[a-z0-9_]+`)
	subjectEnd = regexp.MustCompile(`\s*\(#\d+\)\s*$`)
	// subjectWord is a word of a subject; one of two letters names nothing.
	subjectWord = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{2,}`)
)

// add counts the words of a file: identifiers, and their parts.
func (w *treeWords) add(text []byte) {
	seen := map[string]bool{}
	for _, word := range identifier.FindAll(bytes.ToLower(text), -1) {
		seen[string(word)] = true
		if bytes.IndexByte(word, '_') >= 0 {
			for part := range strings.SplitSeq(string(word), "_") {
				seen[part] = true
			}
		}
	}
	for word := range seen {
		w.files[word]++
	}
}

// rarest returns the two to four words of a subject that stand in the fewest
// files, of those that text has, in the order of the subject. How many follows from
// the commit's id. It is empty if there are no two.
func (w *treeWords) rarest(subject, id, text string) string {
	var words []string
	for _, word := range subjectWord.FindAllString(subjectEnd.ReplaceAllString(subject, ""), -1) {
		known := slices.ContainsFunc(words, func(o string) bool { return strings.EqualFold(o, word) })
		operator := slices.Contains([]string{"and", "not"}, strings.ToLower(word))
		if !known && !operator && strings.Contains(text, strings.ToLower(word)) {
			words = append(words, word)
		}
	}
	if len(words) < 2 {
		return ""
	}
	rare := slices.Clone(words)
	slices.SortStableFunc(rare, func(a, b string) int {
		return cmp.Compare(w.files[strings.ToLower(a)], w.files[strings.ToLower(b)])
	})
	rare = rare[:min(2+int(id[0])%3, len(rare))]
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return !slices.Contains(rare, word) }), " ")
}

// wanted returns the files that a commit changed, none if one is not there yet.
func (w *treeWords) wanted(changed []string) []string {
	if slices.ContainsFunc(changed, func(path string) bool { return !w.paths[path] }) {
		return nil
	}
	return changed
}
