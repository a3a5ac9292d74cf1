package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// hostileName is the name under which a server knows the hostile repository.
const hostileName = "hostile"

// hostileRepo is a repository whose files, commits and refs are the most
// expensive ones that trawl takes. Sizes are those of a scale of 1.
//
//	nl.txt           4 MiB of newlines: more lines than a page can show
//	long.txt         one line of 4 MiB
//	paint.html       300 kB on which a lexer that colours works long
//	text/*.txt       6 files of 30 MB: near the largest text that is indexed
//	delta.bin        52 MB of noise, stored as a delta
//	blobs/*.txt      40 commits, each with another version of 4 files of 2 MB
//	empty/*.txt      one commit that adds 8 files of 120,000 empty lines
//	wide/*           one directory of 5,000 files
//	refs/heads/r/*   20,000 branches
type hostileRepo struct {
	dir   string
	scale float64
	// commit is the one with 8 files of 120,000 empty lines, tip the last.
	commit, tip string
}

// of scales a number, to at least 1.
func (h *hostileRepo) of(n int) int { return max(int(float64(n)*h.scale), 1) }

// newHostileRepo makes the repository in dir, which does not exist.
func newHostileRepo(ctx context.Context, dir string, scale float64) (*hostileRepo, error) {
	h := &hostileRepo{dir: dir, scale: scale}
	if _, err := (gitRepo{}).run(ctx, "init", "-q", "--bare", "-b", "main", dir); err != nil {
		return nil, err
	}
	git := gitRepo{dir: dir}
	cmd := git.command(ctx, "-c", "core.compression=1", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	complaints := &tail{}
	cmd.Stderr = complaints
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(in, 1<<20)
	h.write(buffered)
	writeErr := errors.Join(buffered.Flush(), in.Close())
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("git fast-import: %w: %s", err, complaints)
	}
	if writeErr != nil {
		return nil, fmt.Errorf("write to git fast-import: %w", writeErr)
	}
	if h.tip, err = git.run(ctx, "rev-parse", "refs/heads/main"); err != nil {
		return nil, err
	}
	if h.commit, err = git.run(ctx, "rev-parse", "refs/heads/empty"); err != nil {
		return nil, err
	}
	return h, h.addBranches(ctx)
}

// write writes what git fast-import reads.
func (h *hostileRepo) write(w *bufio.Writer) {
	noise := rand.New(rand.NewPCG(1, 2))
	when := 1_700_000_000
	begin := func(ref, message string) {
		when += 60
		fmt.Fprintf(w, "commit %s\ncommitter Ann Kiln <ann@example.org> %d +0000\ndata %d\n%s\n", ref, when, len(message), message)
	}
	file := func(path string, size int, write func(io.Writer)) {
		fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n", path, size)
		write(w)
		fmt.Fprintln(w)
	}
	text := func(path, content string) {
		file(path, len(content), func(w io.Writer) { _, _ = io.WriteString(w, content) })
	}

	begin("refs/heads/main", "hostile files")
	text("small.txt", "a small file\nwith two lines\n")
	text("nl.txt", strings.Repeat("\n", h.of(4<<20)))
	text("long.txt", strings.Repeat("long ", h.of(4<<20)/5)+"\n")
	text("paint.html", "<script>\n"+strings.Repeat("/a\n", 100_000))
	for i := range 6 {
		text(fmt.Sprintf("text/%d.txt", i), wordText(noise, h.of(30_000_000)))
	}
	for i := range h.of(5000) {
		text(fmt.Sprintf("wide/file%05d.txt", i), fmt.Sprintf("number %d\n", i))
	}
	// git stores the second version as a delta of the first: reading it takes
	// both in memory.
	size := h.of(52 << 20)
	delta := func(seed uint64) func(io.Writer) {
		return func(w io.Writer) {
			r := rand.NewChaCha8([32]byte{7})
			_, _ = io.CopyN(w, r, int64(size-8)) // to memory or a pipe; an error shows at its end
			fmt.Fprintf(w, "%08d", seed)
		}
	}
	file("delta.bin", size, delta(1))
	begin("refs/heads/main", "change one number")
	file("delta.bin", size, delta(2))
	for i := range 40 {
		begin("refs/heads/main", fmt.Sprintf("version %d of large files", i))
		for f := range 4 {
			text(fmt.Sprintf("blobs/%d.txt", f), wordText(noise, h.of(2_000_000)))
		}
	}
	begin("refs/heads/main", "empty lines")
	for f := range 8 {
		text(fmt.Sprintf("empty/%d.txt", f), strings.Repeat("\n", h.of(120_000)))
	}
	fmt.Fprint(w, "reset refs/heads/empty\nfrom refs/heads/main\n\n")
	begin("refs/heads/main", "the last commit")
	text("last.txt", "the last file\n")
}

// addBranches adds branches, in one transaction.
func (h *hostileRepo) addBranches(ctx context.Context) error {
	var in strings.Builder
	for i := range h.of(20_000) {
		fmt.Fprintf(&in, "create refs/heads/r/%05d %s\n", i, h.tip)
	}
	git := gitRepo{dir: h.dir}
	if _, err := git.feed(ctx, []byte(in.String()), "update-ref", "--stdin"); err != nil {
		return err
	}
	_, err := git.run(ctx, "pack-refs", "--all")
	return err
}

// wordText returns lines of words of about so many bytes. The words are few and
// short, so that expensive regexps have much to try.
func wordText(r *rand.Rand, size int) string {
	var b strings.Builder
	b.Grow(size + 80)
	for b.Len() < size {
		for range 10 {
			for range 1 + r.IntN(8) {
				b.WriteByte("abcdefgh"[r.IntN(8)])
			}
			b.WriteByte(' ')
		}
		b.WriteByte('\n')
	}
	return b.String()
}
