package browse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/spool"
)

// rawHolds is the memory of a download while it is made: the buffer that git's
// output is read into, and a small file.
const rawHolds = 1 << 20

const plainText = "text/plain; charset=utf-8"

// serveRaw answers with the bytes of a file, the names in a directory, or an
// archive of what is there.
func (e *Endpoint) serveRaw(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Add("Vary", "Accept")
	p, err := e.find(r)
	if err != nil {
		return e.near(r, nil, err)
	}
	defer p.close()
	format := archiveFormat(r)
	if r.Method == http.MethodHead && p.path == "" && format == "" {
		h.Set("Content-Type", plainText)
		return nil
	}
	found, err := p.entry(r.Context())
	switch {
	case err != nil:
		return e.near(r, p, err)
	case format != "":
		return e.serveArchive(w, r, p, found, format)
	case found.Directory():
		return e.serveNames(w, r, p, found)
	case found.Mode == git.ModeSubmodule:
		return errSubmodule(p.path, found.OID)
	}
	h.Set("Content-Type", plainText)
	if asImage(r) {
		// SVG has styles of its own. It is no page: it runs nothing and fetches nothing.
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Add("Vary", "Sec-Fetch-Dest")
	}
	if asDownload(r) {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", attachment(fileName(p.path)))
	}
	if p.gone != nil {
		return e.serveIndexed(w, r, p)
	}
	return e.serveFile(w, r, p, found)
}

func errSubmodule(path, oid string) error {
	return &httpapi.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%q is a submodule: commit %s of another repository", path, oid)}
}

// archiveFormat is "zip" or "tar" if an archive is asked for. The parameter
// format wins over the header Accept, where the first type that can be had
// does.
func archiveFormat(r *http.Request) string {
	switch format := r.URL.Query().Get("format"); format {
	case "zip", "tar":
		return format
	}
	for item := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		accepted, _, _ := mime.ParseMediaType(item)
		switch accepted {
		case "application/zip":
			return "zip"
		case "application/x-tar":
			return "tar"
		case "text/plain", "text/*", "*/*":
			return ""
		}
	}
	return ""
}

// serveNames lists the entries of a directory, with a slash behind those of
// other directories. They are escaped, for browsers that take the list for
// HTML.
func (e *Endpoint) serveNames(w http.ResponseWriter, r *http.Request, p *target, dir git.Entry) error {
	d := e.newDownload(w, r, p)
	var small bytes.Buffer
	var large *spool.File
	defer func() {
		if large != nil {
			_ = large.Close()
		}
	}()
	var failed error
	err := p.eachEntry(r.Context(), dir, func(f git.Entry) bool {
		if small.Len() > smallBytes {
			failed = spill(r.Context(), d, &small, &large)
		}
		if small.Len() > 0 || large != nil {
			small.WriteByte('\n')
		}
		small.WriteString(html.EscapeString(f.Name))
		if f.Directory() {
			small.WriteByte('/')
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return d.end(err)
	}
	p.close()
	w.Header().Set("Content-Type", plainText)
	if large == nil {
		return d.end(httpapi.WriteBody(d, r, http.StatusOK, small.Bytes()))
	}
	return d.end(d.sendText(r, smallBytes, func(http.Header) {}, io.MultiReader(large.Reader(), &small)))
}

// spill moves what a buffer holds to a file of the spool, which it makes without
// waiting: git waits meanwhile.
func spill(ctx context.Context, d *download, from *bytes.Buffer, to **spool.File) (err error) {
	if *to == nil {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if *to, err = d.space.Create(ctx, d.client, smallBytes); err != nil {
			return err
		}
	}
	_, err = from.WriteTo(*to)
	return err
}

// serveFile answers with the bytes as they are, of a symbolic link with where
// it leads.
func (e *Endpoint) serveFile(w http.ResponseWriter, r *http.Request, p *target, file git.Entry) error {
	d := e.newDownload(w, r, p)
	if r.Method == http.MethodHead {
		size, err := p.code.Size(r.Context(), file.OID)
		if err != nil {
			return d.end(err)
		}
		httpapi.SetLength(w, r, size)
		return nil
	}
	size, content, err := d.fetchUnknown(r.Context(), file.OID)
	if err != nil {
		return d.end(err)
	}
	defer content.Close()
	p.close()
	return d.sendFile(r, size, content)
}

// sendFile sends the bytes of a file that were read to their end. Text leaves compressed if
// the client allows; other files mostly do not become smaller.
func (d *download) sendFile(r *http.Request, size int64, content io.Reader) error {
	if asImage(r) {
		var err error
		if content, err = d.image(r, content); err != nil {
			return d.end(err)
		}
	}
	d.work.Shrink(2 * smallBytes)
	if r.Method == http.MethodHead {
		httpapi.SetLength(d, r, size)
		return d.end(nil)
	}
	in := bufio.NewReaderSize(content, sniffBytes) // that of image, if there is one
	head, err := in.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return d.end(err)
	}
	textBytes := size
	if bytes.IndexByte(head, 0) >= 0 {
		textBytes = 0
	}
	return d.end(d.sendText(r, textBytes, func(h http.Header) { h.Set("Content-Length", strconv.FormatInt(size, 10)) }, in))
}

// sendText sends a text of so many bytes, compressed if the client allows. It calls plain
// with the headers if the text leaves as it is.
func (d *download) sendText(r *http.Request, size int64, plain func(http.Header), text io.Reader) error {
	body := httpapi.NewBody(d, r, size)
	defer body.Release()
	if !body.Compressed() {
		plain(d.Header())
	}
	if _, err := io.Copy(body, struct{ io.Reader }{text}); err != nil { // not in pieces of its buffer
		return err
	}
	return body.End()
}
