package browse

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/hostlink"
	"github.com/trawlsearch/trawl/httpapi/markdown"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/text"
)

// maxShownBytes is the largest file that a page reads whole. Of a larger one it shows a
// window without colours.
const maxShownBytes = 4 << 20

// blobHolds is the memory of the page of such a file: the file, its text if
// that is encoded in another way, the lines of a window, and the page.
const blobHolds = 12 << 20

// blobData is the data of the page of a file.
type blobData struct {
	head
	Name, Language    string
	Bytes             int
	RawURL, Permalink string
	// DownloadURL is where browsers keep the file.
	DownloadURL       string
	BlobURL, BlameURL string
	// CodeURL leads from blame to the lines of the file.
	CodeURL string
	// Here is the address of the page without its lines.
	Here string
	// Blamed says that lines tell who wrote them, BlameProblem why they do not.
	Blamed       bool
	BlameProblem string
	Kind         string
	// LinksTo is what a symbolic link leads to, nil if that is not in the repository.
	LinksTo *namedLink
	// Problem says why no text is shown, "" if it is.
	Problem string
	source
	Outline outline
	// AskedPath is the path of the address, as it is.
	AskedPath string
	// Encoding is shown where it is not UTF-8.
	Encoding string
	// LinesURL leads to the history of lines, "" where git cannot follow them; LinesNamed
	// says that the address names some that the file has.
	LinesURL   string
	LinesNamed bool
	// OnHost and InEditor lead to the file elsewhere, nil for none.
	OnHost, InEditor *hostlink.Link
	// Rendered is the text of Markdown as HTML, RenderedURL and SourceURL lead from one to
	// the other, "" for none. RenderProblem says why it is not rendered.
	Rendered               template.HTML
	RenderedURL, SourceURL string
	RenderProblem          string
	// ImageURL is where the file is an image, "" if it is none.
	ImageURL string
}

const symbolicLink = "symbolic link"

// source is the window of a text that a page shows.
type source struct {
	Lines []lineRow
	// First and Last are the lines of the window, and Total is how many the text
	// has, or more with More.
	First, Last, Total int
	More               bool
	// Before and Behind are the addresses of the windows beside this one, "" for
	// none.
	Before, Behind string
	// Looked is what addresses of parts of the file end with: what is looked for in it.
	Looked string
}

// Holds reports whether the window has a line.
func (s source) Holds(line int) bool { return line >= s.First && line <= s.Last }

// Part reports whether the text has lines that are not shown.
func (s source) Part() bool { return s.First > 1 || s.Last < s.Total }

// blockLines is how many lines are laid out together. Browsers lay out those that come
// near the window.
const blockLines = 100

// Digits is how wide the numbers of the window are.
func (s source) Digits() int { return len(strconv.Itoa(s.Last)) }

// lineRow is a line of text. Block says that it begins a block of lines, and First that it is the first of those that the
// address names.
type lineRow struct {
	N int
	// Hunk is who wrote this line and those behind it, nil but for the first of them.
	Hunk *hunkRow
	codeLine
	Marked, First, Block bool
}

// blob shows a file. The page of a directory is another.
func (e *Endpoint) blob(r *http.Request, p *target) (answer, error) { return e.file(r, p, false) }

// blame shows a file, and beside its lines who wrote them.
func (e *Endpoint) blame(r *http.Request, p *target) (answer, error) { return e.file(r, p, true) }

func (e *Endpoint) file(r *http.Request, p *target, blamed bool) (answer, error) {
	found, err := p.entry(r.Context())
	if err != nil {
		return answer{}, err
	}
	if found.Directory() || found.Mode == git.ModeSubmodule {
		return answer{redirect: code.TreeURL(p.rec.Name, p.rev, p.path)}, nil
	}
	data := blobData{head: p.head(), AskedPath: p.path, Name: shown(found.Name), RawURL: code.RawURL(p.rec.Name, p.rev, p.path), BlobURL: code.BlobURL(p.rec.Name, p.rev, p.path), BlameURL: code.BlameURL(p.rec.Name, p.rev, p.path), Blamed: blamed}
	data.CodeURL, data.DownloadURL = data.BlobURL, data.RawURL+downloadQuery
	data.Here, data.Permalink = data.BlobURL, code.BlobURL(p.rec.Name, p.commit, p.path)
	if blamed {
		data.SwitchURL = switchURL(p.rec.Name, p.path, "blame")
		data.Here, data.Permalink = data.BlameURL, code.BlameURL(p.rec.Name, p.commit, p.path)
	}
	line := parseLines(r.URL.RawQuery).first
	data.OnHost, data.InEditor = e.Links.Host(p.rec, p.commit, p.path, line), e.Links.Editor(p.rec, p.commit, p.path, line)
	switch found.Mode {
	case git.ModeSymlink:
		data.Kind = symbolicLink
	case git.ModeExecutable:
		data.Kind = "executable"
	}
	o, err := p.object(r.Context(), found, maxShownBytes)
	data.Bytes = int(o.Size)
	switch {
	case errors.Is(err, git.ErrTooLarge):
		httpapi.WorkOf(r.Context()).Shrink(blobHolds / 2)
		if err := e.fillLarge(r, p, &data, found); err != nil {
			return answer{}, p.readable(err)
		}
		if blamed {
			data.BlameProblem = "The file is too large for its lines to be followed to who wrote them."
		}
		if data.Outline, err = p.outline(found.OID); err != nil {
			return answer{}, err
		}
	case err != nil:
		return answer{}, p.readable(err)
	default:
		httpapi.WorkOf(r.Context()).Shrink(fileHolds(len(o.Data)))
		if found.Mode == git.ModeSymlink {
			data.LinksTo = p.linked(r.Context(), o.Data)
		}
		e.fill(r, p, &data, found.OID, o.Data)
		if blamed && data.Lines != nil {
			if data.BlameProblem, err = e.addBlame(r, p, &data.source); err != nil {
				return answer{}, err
			}
		}
		if data.Outline, err = p.outline(found.OID); err != nil {
			return answer{}, err
		}
	}
	scripts := []string{"names.js", "tools.js", "tree.js", "matches.js"}
	if data.Part() {
		scripts = append(scripts, "windows.js")
	}
	return answer{page: "blob.html", data: &data, scripts: scripts}, nil
}

// fill shows the text of a file.
func (e *Endpoint) fill(r *http.Request, p *target, data *blobData, oid string, content []byte) {
	if imageType(content) != "" {
		data.ImageURL = imageURL(p.rec.Name, p.rev, p.path)
	}
	decoded, reason := text.Decode(content)
	if reason != "" {
		if data.ImageURL == "" {
			data.Problem = "The file is binary."
		}
		return
	}
	if len(decoded.Data) == 0 {
		data.Problem = "The file is empty."
		return
	}
	if decoded.Encoding != text.UTF8 {
		data.Encoding = decoded.Encoding
	}
	data.Language = lang.Detect(p.path, decoded.Data)
	named := parseLines(r.URL.RawQuery)
	data.Permalink += named.query()
	if markdown.IsName(p.path) && data.Kind != symbolicLink {
		data.CodeURL += asSource
		if !data.Blamed && len(decoded.Data) <= markdown.MaxBytes && e.fillRendered(r, p, data, decoded.Data) {
			return
		}
	}
	// git takes a text with zeros, as in UTF-16, for binary
	if p.gone == nil && bytes.IndexByte(content, 0) < 0 {
		data.LinesURL = data.CommitsURL + named.query()
	}
	most := maxWindowLines
	if data.Blamed {
		most = maxBlameLines
	}
	win := windowOfLines(decoded.Data, max(named.first, lineFrom(r)), most)
	data.LinesNamed = named.first > 0 && named.first <= win.lines
	lines := e.painter.lines(r.Context(), fileColours{repository: p.rec.ID, oid: oid}, p.path, data.Language, decoded.Data, win)
	if n := named.first - win.first; n >= 0 && n < len(lines) && lines[n].lacks(named.column) {
		lines[n] = partOf(lineAt(decoded.Data[win.start:win.end], n), named.column)
	}
	data.show(lines, win, named, lookedFor(r))
}

// lineAt returns the line that n others stand before, without its newline.
func lineAt(text []byte, n int) string {
	for range n {
		text = text[len(nextLine(text)):]
	}
	return string(bytes.TrimSuffix(nextLine(text), []byte("\n")))
}

// asSource is the part of an address that has Markdown shown as it is written.
const asSource = "?view=source"

// fillRendered shows the text of Markdown as it is meant, unless the address asks for its
// lines or looks for something in them.
func (e *Endpoint) fillRendered(r *http.Request, p *target, data *blobData, source []byte) bool {
	if isCode(source) {
		return false
	}
	asked, named := r.URL.Query().Get("view") == "source", parseLines(r.URL.RawQuery).first > 0
	data.RenderedURL = data.BlobURL
	if asked && !named {
		data.Permalink += asSource
	}
	if asked || named || lineFrom(r) > 0 || lookedFor(r) != "" {
		return false
	}
	out, err := e.render(r, p, dirOf(p.path), source, fileHolds(len(source)))
	if data.RenderedURL = ""; err != nil {
		data.RenderProblem = "This is its source: it is too long, or nests too deeply, to be rendered."
		if errors.Is(err, errNoMemory) {
			data.RenderProblem = "This is its source: the server has no memory to render it now."
		}
		return false
	}
	if strings.TrimSpace(string(out)) == "" {
		return false // it is all comments
	}
	data.Rendered, data.SourceURL = out, data.BlobURL+asSource
	return true
}

// isCode reports whether a text is a machine description of GCC's, whose files have names
// like those of Markdown.
func isCode(source []byte) bool {
	source = bytes.TrimSpace(source)
	return bytes.HasPrefix(source, []byte(";;")) || bytes.HasPrefix(source, []byte("(define_"))
}

// fileHolds is what the page of a file of so many bytes holds, once that was read.
func fileHolds(n int) int64 { return min(blobHolds, 4<<20+2*int64(n)) }

// show has the page show the lines of a window, and lead to those beside it.
func (d *blobData) show(lines []codeLine, win window, named lineRange, looked string) {
	d.source, d.Looked = newSource(lines, win, named), looked
	here := d.Here + "?from="
	if win.first > 1 {
		d.Before = here + strconv.Itoa(win.first-1) + looked
	}
	if win.last < win.lines {
		d.Behind = here + strconv.Itoa(win.last+1) + looked
	}
}

// maxLooked is how long what an address looks for in a file may be, to stay in the
// addresses of its other parts.
const maxLooked = 2 << 10

// lookedFor is the part of an address that says what is looked for in the file.
func lookedFor(r *http.Request) string {
	kept, asked := url.Values{}, r.URL.Query()
	for _, name := range []string{"q", "patternType", "case", "find"} {
		if v := asked.Get(name); v != "" {
			kept.Set(name, v)
		}
	}
	if text := kept.Encode(); text != "" && len(text) <= maxLooked {
		return "&" + text
	}
	return ""
}

// lineFrom is the line whose window an address asks for, 0 if it does not.
func lineFrom(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// newSource numbers the lines of a window and marks those that are named.
func newSource(lines []codeLine, win window, named lineRange) source {
	s := source{First: win.first, Last: win.last, Total: win.lines, More: win.more, Lines: make([]lineRow, len(lines))}
	first := true
	for i, line := range lines {
		row := lineRow{N: win.first + i, codeLine: line, Marked: named.holds(win.first + i), Block: i > 0 && i%blockLines == 0}
		row.First, first = row.Marked && first, first && !row.Marked
		s.Lines[i] = row
	}
	return s
}
