package gitobject

import (
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/shard"
	storetext "github.com/trawlsearch/trawl/store/text"
)

// Blob is the types GitBlob and, as the one kind of it, File2.
type Blob struct {
	*entry

	once   sync.Once
	loaded contents
	err    error
}

// contents is what a file holds.
type contents struct {
	// text is what is searched and shown; for a binary file its bytes.
	text []byte
	// bytes is the size of the file.
	bytes    int64
	binary   bool
	language string
}

// contents reads the file once.
func (b *Blob) contents(ctx context.Context) (contents, error) {
	b.once.Do(func() { b.loaded, b.err = b.load(ctx) })
	return b.loaded, b.err
}

// hasContent is false for what stands in place of a file.
func (b *Blob) hasContent() bool { return b.git.Mode != git.ModeSubmodule && !b.IsDirectory() }

func (b *Blob) load(ctx context.Context) (contents, error) {
	if !b.hasContent() {
		return contents{}, nil
	}
	d, indexed, err := b.document()
	if err != nil {
		return contents{}, err
	}
	if indexed && d.table.Reason[d.i] == shard.Searchable {
		if err := b.commit.repo.s.Read(int(d.table.TextBytes[d.i])); err != nil {
			return contents{}, err
		}
		text, err := d.text()
		return contents{text: text, bytes: int64(d.table.FileBytes[d.i]), language: d.at().Language}, err
	}
	data, err := b.data(ctx)
	if err != nil {
		return contents{}, err
	}
	decoded, reason := storetext.Decode(data)
	if reason != "" {
		return contents{text: data, bytes: int64(len(data)), binary: true}, nil
	}
	return contents{text: decoded.Data, bytes: int64(len(data)), language: lang.Detect(b.path, decoded.Data)}, nil
}

// data reads the bytes of the file, once there is memory for them.
func (b *Blob) data(ctx context.Context) ([]byte, error) {
	var out bytes.Buffer
	err := b.commit.git().Copy(ctx, b.git.OID, func(_ string, size int64) (io.Writer, error) {
		if size > code.MaxBlobBytes {
			return nil, wire.Refuse("%s has %d bytes, the limit is %d", b.path, size, code.MaxBlobBytes)
		}
		if err := b.commit.repo.s.Read(int(size)); err != nil {
			return nil, err
		}
		out.Grow(int(size))
		return &out, nil
	})
	if errors.Is(err, git.ErrMissing) || errors.Is(err, git.ErrCorrupt) {
		return nil, wire.Refuse("%s cannot be read: its object is missing or damaged", b.path)
	}
	return out.Bytes(), err
}

// document is the one of the index, if it is this very file.
func (b *Blob) document() (document, bool, error) {
	r := b.commit.repo
	docs, err := r.s.documentsOf(r.rec)
	if err != nil {
		return document{}, false, err
	}
	d, ok := docs.find(b.path)
	return d, ok && d.oid() == b.git.OID, nil
}

// lineArgs choose lines, counted from one.
type lineArgs struct{ StartLine, EndLine wire.Int }

// Content is the text or some of its lines. Bytes that are no text are replaced.
func (b *Blob) Content(ctx context.Context, args lineArgs) (string, error) {
	c, err := b.contents(ctx)
	if err != nil {
		return "", err
	}
	shown := lines(c.text, args)
	if err := b.commit.repo.s.Show(shown); err != nil {
		return "", err
	}
	return Valid(shown), nil
}

// lines cuts lines out of a text: a start below 1 is the beginning, an end
// below 0 or behind the end is the end.
func lines(text []byte, args lineArgs) []byte {
	first, last := int(args.StartLine.Or(0)), int(args.EndLine.Or(-1))
	start := 0
	for n := 1; n < first; n++ {
		i := bytes.IndexByte(text[start:], '\n')
		if i < 0 {
			return nil
		}
		start += i + 1
	}
	if last < 0 {
		return text[start:]
	}
	end := start
	for n := max(first, 1); n <= last; n++ {
		i := bytes.IndexByte(text[end:], '\n')
		if i < 0 {
			return text[start:]
		}
		end += i + 1
	}
	return text[start:end]
}

// ByteSize is that of the file. One whose size the index knows is not read.
func (b *Blob) ByteSize(ctx context.Context) (int32, error) {
	if d, ok, err := b.document(); ok || err != nil {
		if err != nil {
			return 0, err
		}
		return wire.Int32(d.table.FileBytes[d.i]), nil
	}
	if !b.hasContent() {
		return 0, nil
	}
	o, err := b.commit.git().Object(ctx, b.git.OID, 0)
	if err != nil && !errors.Is(err, git.ErrTooLarge) {
		return 0, err
	}
	return wire.Int32(o.Size), nil
}

// TotalLines counts an unfinished last line too.
func (b *Blob) TotalLines(ctx context.Context) (int32, error) {
	c, err := b.contents(ctx)
	if err != nil || c.binary {
		return 0, err
	}
	return wire.Int32(countLines(c.text)), nil
}

func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Binary needs no reading of what the index knows.
func (b *Blob) Binary(ctx context.Context) (bool, error) {
	d, ok, err := b.document()
	if err != nil {
		return false, err
	}
	if ok && d.table.Reason[d.i] == shard.ReasonBinary {
		return true, nil
	}
	if ok && d.table.Reason[d.i] == shard.Searchable {
		return false, nil
	}
	c, err := b.contents(ctx)
	return c.binary, err
}

// ContentType is what a browser would take the file for.
func (b *Blob) ContentType(ctx context.Context) (string, error) {
	c, err := b.contents(ctx)
	switch {
	case err != nil:
		return "", err
	case !c.binary:
		return "text/plain; charset=utf-8", nil
	}
	if byName := mime.TypeByExtension(path.Ext(b.path)); byName != "" && !strings.HasPrefix(byName, "text/") {
		return byName, nil
	}
	return http.DetectContentType(c.text), nil
}

// RichHTML is empty: nothing is rendered.
func (b *Blob) RichHTML(lineArgs) string { return "" }

// RawURL is a path.
func (b *Blob) RawURL() string { return code.RawURL(b.repoName(), b.commit.rev, b.path) }

// ChangelistURL is null: there is no Perforce.
func (b *Blob) ChangelistURL() *string { return nil }

// Languages is at most one.
func (b *Blob) Languages(ctx context.Context) ([]string, error) {
	d, ok, err := b.document()
	if err != nil {
		return nil, err
	}
	name := ""
	if ok {
		name = d.at().Language
	} else {
		c, err := b.contents(ctx)
		if err != nil {
			return nil, err
		}
		name = c.language
	}
	if name == "" {
		return []string{}, nil
	}
	return []string{name}, nil
}

// LFS reads the pointer that stands in place of a large file.
func (b *Blob) LFS(ctx context.Context) (*lfs, error) {
	const most = 1024 // of a pointer
	if n, err := b.ByteSize(ctx); err != nil || n > most {
		return nil, err
	}
	c, err := b.contents(ctx)
	if err != nil || !bytes.HasPrefix(c.text, []byte("version https://git-lfs.github.com/spec/")) {
		return nil, err
	}
	for line := range strings.Lines(string(c.text)) {
		if size, ok := strings.CutPrefix(line, "size "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
			if err == nil && n >= 0 {
				return &lfs{wire.BigInt(n)}, nil
			}
		}
	}
	return nil, nil
}

type lfs struct{ ByteSize wire.BigInt }

// LSIF is null.
func (b *Blob) LSIF() *codeData { return nil }

// codeData is the type GitBlobLSIFData, of which there is none.
type codeData struct{}

type placeArgs struct{ Line, Character int32 }

func (codeData) Hover(placeArgs) *hover { return nil }
func (codeData) Definitions(placeArgs) *locationConnection {
	return &locationConnection{Nodes: []*location{}}
}
func (codeData) References(placeArgs) *locationConnection {
	return &locationConnection{Nodes: []*location{}}
}

type hover struct {
	Markdown wire.Markdown
	Range    *Place
}

type locationConnection struct {
	Nodes    []*location
	PageInfo wire.ForwardPage
}

// Highlight is the text as a table, without colours.
func (b *Blob) Highlight(ctx context.Context, args struct {
	DisableTimeout     bool
	IsLightTheme       wire.Bool
	HighlightLongLines wire.Bool
	Format             wire.String
	StartLine, EndLine wire.Int
}) (*highlighted, error) {
	c, err := b.contents(ctx)
	if err != nil {
		return nil, err
	}
	if c.binary || args.Format.Or("") == "JSON_SCIP" {
		return &highlighted{s: b.commit.repo.s}, nil
	}
	which := lineArgs{args.StartLine, args.EndLine}
	s := b.commit.repo.s
	shown, err := rows(lines(c.text, which), max(1, int(args.StartLine.Or(1))), s.holdRow)
	if err != nil {
		return nil, err
	}
	return &highlighted{s, shown}, nil
}

// highlighted is the type HighlightedFile.
type highlighted struct {
	s    *Session
	rows []string
}

func (h *highlighted) Aborted() bool { return false }
func (h *highlighted) LSIF() string  { return "" }

// HTML is a table.
func (h *highlighted) HTML() (string, error) {
	for _, row := range h.rows {
		if err := h.s.Show([]byte(row)); err != nil {
			return "", err
		}
	}
	return "<table><tbody>" + strings.Join(h.rows, "") + "</tbody></table>", nil
}

// LineRanges returns some of its rows.
func (h *highlighted) LineRanges(args struct {
	Ranges []struct{ StartLine, EndLine int32 }
}) ([][]string, error) {
	out := [][]string{}
	for _, r := range args.Ranges {
		from := min(max(int(r.StartLine), 0), len(h.rows))
		to := min(max(int(r.EndLine), from), len(h.rows))
		for _, row := range h.rows[from:to] {
			if err := h.s.Show([]byte(row)); err != nil {
				return nil, err
			}
		}
		out = append(out, append([]string{}, h.rows[from:to]...))
	}
	return out, nil
}

// holdRow takes what a row of a table holds, which may be shown or not.
func (s *Session) holdRow(bytes int) error {
	if err := s.TakeShown(bytes); err != nil {
		return err
	}
	return s.Hold(bytes + rowBytes)
}

// rowBytes is what a string takes beside its text.
const rowBytes = 16

// rows writes a table row for each line, as far as hold lets it.
func rows(text []byte, first int, hold func(bytes int) error) ([]string, error) {
	var out []string
	for line := range bytes.Lines(text) {
		row := `<tr><td class="line" data-line="` + strconv.Itoa(first+len(out)) + `"></td><td class="code">` +
			html.EscapeString(Valid(bytes.TrimSuffix(line, []byte("\n")))) + "\n</td></tr>"
		if err := hold(len(row)); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// Blame tells who wrote which lines.
func (b *Blob) Blame(ctx context.Context, args struct {
	StartLine, EndLine wire.Int
	IgnoreWhitespace   wire.Bool
}) ([]*hunk, error) {
	c, err := b.contents(ctx)
	if err != nil {
		return nil, err
	}
	total := countLines(c.text)
	first, last := max(1, int(args.StartLine.Or(0))), int(args.EndLine.Or(0))
	if last < 1 || last > total {
		last = total
	}
	out := []*hunk{}
	if c.binary || first > last {
		return out, nil
	}
	repo, err := b.commit.repo.command(ctx)
	if err != nil {
		return nil, err
	}
	s := b.commit.repo.s
	found, err := repo.Blame(ctx, b.commit.oid, b.path, first, last, args.IgnoreWhitespace.Or(false), func(h git.BlameHunk) error {
		s.Resume(ctx)
		if err := s.ShowName(ctx, h.Author.Name, h.Author.Email, h.Subject, h.Path); err != nil {
			return err
		}
		return s.Hold(hunkBytes + len(h.Author.Name) + len(h.Author.Email) + len(h.Subject) + len(h.Path))
	})
	if err != nil {
		return nil, err
	}
	if err := s.Reserve(ctx, len(found)); err != nil {
		return nil, err
	}
	if err := s.Hold(intBytes * total); err != nil {
		return nil, err
	}
	starts := lineStarts(c.text)
	for _, h := range found {
		end := min(h.StartLine+h.Lines, len(starts))
		out = append(out, &hunk{
			StartLine: wire.Int32(h.StartLine), EndLine: wire.Int32(h.StartLine + h.Lines),
			StartByte: wire.Int32(starts[min(h.StartLine, len(starts))-1]), EndByte: wire.Int32(starts[end-1]),
			Rev: h.Commit, Author: newSignature(h.Author), Message: h.Subject, Filename: h.Path,
			Commit: &Commit{repo: b.commit.repo, oid: h.Commit, rev: h.Commit},
		})
	}
	return out, nil
}

// lineStarts returns the bytes before each line, and before the end.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' && i+1 < len(text) {
			starts = append(starts, i+1)
		}
	}
	return append(starts, len(text))
}

// hunkBytes is what a hunk holds beside its text, read and as it is answered,
// intBytes what a number does.
const (
	hunkBytes = 600
	intBytes  = 8
)

// hunk is the type Hunk.
type hunk struct {
	StartLine, EndLine, StartByte, EndByte int32
	Rev, Message, Filename                 string
	Author                                 *signature
	Commit                                 *Commit
}

// file2 is the interface File2, of which every file is a GitBlob.
type file2 struct{ *Blob }

// ToGitBlob is always so.
func (f *file2) ToGitBlob() (*Blob, bool) { return f.Blob, true }

// languageOf guesses by the name of a file alone.
func languageOf(name string) string { return lang.Detect(name, nil) }
