package browse

import (
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store/git"
)

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
		return err
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
		return err
	case format != "":
		return e.serveArchive(w, r, p, found, format)
	case found.Directory():
		return p.serveNames(w, r, found)
	case found.Mode == git.ModeSubmodule:
		return errSubmodule(p.path, found.OID)
	}
	return p.serveFile(w, r, found)
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
// other directories. They are escaped, for whoever takes the list for HTML.
func (p *place) serveNames(w http.ResponseWriter, r *http.Request, dir git.Entry) error {
	entries, err := p.code.Tree(r.Context(), dir.OID)
	if err != nil {
		return p.readable(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = html.EscapeString(e.Name)
		if e.Directory() {
			names[i] += "/"
		}
	}
	w.Header().Set("Content-Type", plainText)
	return httpapi.WriteBody(w, r, http.StatusOK, []byte(strings.Join(names, "\n")))
}

// serveFile answers with the bytes as they are, of a symbolic link with where
// it leads.
func (p *place) serveFile(w http.ResponseWriter, r *http.Request, file git.Entry) error {
	out := newSlowWriter(w)
	err := p.code.Copy(r.Context(), file.OID, func(_ string, size int64) (io.Writer, error) {
		w.Header().Set("Content-Type", plainText)
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		if r.Method == http.MethodHead {
			return nil, errHeadOnly
		}
		return out, nil
	})
	if errors.Is(err, errHeadOnly) {
		return nil
	}
	return out.end(p.readable(err))
}

// errHeadOnly ends the reading of what nobody wants to see.
var errHeadOnly = errors.New("only the header is wanted")

// slowWriter lets each piece of an answer take its time, but not for ever.
type slowWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

func newSlowWriter(w http.ResponseWriter) *slowWriter {
	return &slowWriter{w: w, control: http.NewResponseController(w)}
}

func (s *slowWriter) Write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeWithin)) // of a server that can
	s.begun = true
	return s.w.Write(p)
}

// end returns an error that can still be told. An answer that has begun is cut
// off instead, so that nobody takes it for whole.
func (s *slowWriter) end(err error) error {
	if err != nil && s.begun {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		s.w.Header().Del("Content-Length")
	}
	return err
}
