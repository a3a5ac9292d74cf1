package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// resize writes a bare repository to dir with one commit that has factor times
// the files of s. A fraction takes files spread evenly over the tree. A
// multiple adds copies of every text file below folders of their own. In a copy
// the lines of a file are rotated. No block of it equals one of the original,
// so blocks cannot be stored once for all copies; yet it has each line, so that
// there is as much to find.
func (s *source) resize(ctx context.Context, factor float64, dir string) error {
	if _, err := (gitRepo{}).run(ctx, "init", "--quiet", "--bare", dir); err != nil {
		return err
	}
	in, out := io.Pipe()
	cmd := gitRepo{env: []string{"GIT_DIR=" + dir}}.command(ctx,
		"-c", "core.compression=1", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--depth=0")
	stderr := &tail{}
	cmd.Stdin, cmd.Stderr = in, stderr
	var writer sync.WaitGroup
	writer.Go(func() { out.CloseWithError(s.writeImport(out, factor)) })
	err := cmd.Run()
	_ = in.Close()
	writer.Wait()
	if err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, stderr)
	}
	_, err = gitRepo{env: []string{"GIT_DIR=" + dir}}.run(ctx, "symbolic-ref", "HEAD", resizedBranch)
	return err
}

const resizedBranch = "refs/heads/resized"

// writeImport writes the stream that git fast-import reads.
func (s *source) writeImport(to io.Writer, factor float64) error {
	w := bufio.NewWriterSize(to, 1<<20)
	var tree bytes.Buffer
	marks := 0
	add := func(path string, content []byte) {
		marks++
		fmt.Fprintf(w, "blob\nmark :%d\ndata %d\n", marks, len(content))
		w.Write(content) // an error stays with w until Flush
		w.WriteByte('\n')
		fmt.Fprintf(&tree, "M 100644 :%d %s\n", marks, quotePath(path))
	}
	for i, f := range s.files {
		if f.class == irregular || int(float64(i+1)*factor) == int(float64(i)*factor) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(s.tree, f.path))
		if err != nil {
			return err
		}
		add(f.path, content)
		for n := 1; n < int(factor) && f.class == text; n++ {
			copied := fmt.Sprintf("copy-%d/%s", n, f.path)
			add(copied, rotate(content, copied))
		}
	}
	fmt.Fprintf(w, "commit %s\ncommitter trawl-bench <trawl-bench@localhost> 0 +0000\ndata 0\n", resizedBranch)
	if _, err := tree.WriteTo(w); err != nil {
		return err
	}
	fmt.Fprint(w, "\ndone\n")
	return w.Flush()
}

// rotate returns the lines of content, beginning with another one that follows
// from name.
func rotate(content []byte, name string) []byte {
	lines := bytes.Count(content, []byte("\n"))
	if lines < 2 {
		return content
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	at := 0
	for range 1 + int(h.Sum32()%uint32(lines-1)) {
		at += bytes.IndexByte(content[at:], '\n') + 1
	}
	rotated := append(make([]byte, 0, len(content)+1), content[at:]...)
	if rotated[len(rotated)-1] != '\n' {
		rotated = append(rotated, '\n')
	}
	return append(rotated, content[:at]...)
}

// quotePath writes a path as git fast-import reads it.
func quotePath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
