package browse

import (
	"errors"
	"html/template"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/text"
)

// maxShownBytes is the largest file that a page shows.
const maxShownBytes = 4 << 20

// blobData is what the page of a file shows.
type blobData struct {
	head
	Name, Language    string
	Bytes             int64
	RawURL, Permalink string
	Kind              string
	// Problem says why no text is shown, "" if it is.
	Problem string
	Lines   []lineRow
	// Encoding is told where it is not UTF-8.
	Encoding string
}

// lineRow is a line of text. First says that it is the first of those that the
// address names.
type lineRow struct {
	N             int
	HTML          template.HTML
	Marked, First bool
}

// serveBlob shows a file. The page of a directory is another.
func (e *Endpoint) serveBlob(w http.ResponseWriter, r *http.Request) error {
	p, err := e.find(r)
	if err != nil {
		return err
	}
	defer p.close()
	found, err := p.entry(r.Context())
	if err != nil {
		return err
	}
	if found.Directory() || found.Mode == git.ModeSubmodule {
		return e.redirect(w, r, code.TreeURL(p.rec.Name, p.rev, p.path))
	}
	data := blobData{head: p.head(), Name: shown(found.Name), RawURL: code.RawURL(p.rec.Name, p.rev, p.path), Permalink: code.BlobURL(p.rec.Name, p.commit, p.path)}
	switch found.Mode {
	case git.ModeSymlink:
		data.Kind = "symbolic link"
	case git.ModeExecutable:
		data.Kind = "executable"
	}
	o, err := p.code.Object(r.Context(), found.OID, maxShownBytes)
	data.Bytes = o.Size
	switch {
	case errors.Is(err, git.ErrTooLarge):
		data.Problem = "The file is too large to be shown."
	case err != nil:
		return p.readable(err)
	default:
		e.fill(r, p, &data, o.Data)
	}
	return e.servePage(w, r, "blob.html", data)
}

// fill shows the text of a file.
func (e *Endpoint) fill(r *http.Request, p *place, data *blobData, content []byte) {
	decoded, reason := text.Decode(content)
	if reason != "" {
		data.Problem = "The file is binary."
		return
	}
	if decoded.Encoding != text.UTF8 {
		data.Encoding = decoded.Encoding
	}
	data.Language = lang.Detect(p.path, decoded.Data)
	named, first := parseLines(r.URL.RawQuery), true
	for i, line := range e.painter.lines(r.Context(), p.path, data.Language, string(decoded.Data)) {
		row := lineRow{N: i + 1, HTML: line, Marked: named.holds(i + 1)}
		row.First, first = row.Marked && first, first && !row.Marked
		data.Lines = append(data.Lines, row)
	}
	if len(data.Lines) == 0 {
		data.Problem = "The file is empty."
	}
}
