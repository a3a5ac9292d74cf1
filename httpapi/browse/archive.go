package browse

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store/git"
)

// archive takes files one by one.
type archive interface {
	// file begins a file; its bytes are written to what is returned.
	file(name string, mode fs.FileMode, size int64) (io.Writer, error)
	// link adds a symbolic link, dir an empty directory.
	link(name, target string) error
	dir(name string) error
	Close() error
}

// serveArchive answers with an archive of a directory or a file. It is not made
// by "git archive", which would change files as .gitattributes says, and could
// be made to run programs that a repository names.
func (e *Endpoint) serveArchive(w http.ResponseWriter, r *http.Request, p *target, found git.Entry, format string) error {
	if found.Mode == git.ModeSubmodule {
		return errSubmodule(p.path, found.OID)
	}
	commit, err := p.code.Commit(r.Context(), p.commit)
	if err != nil {
		return p.readable(err)
	}
	h := w.Header()
	h.Set("Content-Type", map[string]string{"zip": "application/zip", "tar": "application/x-tar"}[format])
	h.Set("Content-Disposition", attachment(path.Base(p.rec.Name)+"."+format))
	if r.Method == http.MethodHead {
		return nil
	}
	d := e.newDownload(w, r, p)
	when := time.Unix(commit.Committer.Seconds, 0).UTC()
	return d.end(e.sendArchive(r.Context(), d, found, format, when))
}

// sendArchive sends an archive when it is its turn.
func (e *Endpoint) sendArchive(ctx context.Context, d *download, found git.Entry, format string, when time.Time) error {
	release, err := e.takeArchive(ctx, d)
	if err != nil {
		return err
	}
	defer release()
	list, err := d.list(ctx, found)
	if err != nil {
		return err
	}
	defer list.Close()
	if format == "zip" {
		if err := d.holdNames(list); err != nil {
			return err
		}
	}
	buffered := bufio.NewWriterSize(d, 64<<10)
	into := newArchive(format, buffered, d.place.commit, when)
	err = list.each(func(f git.TreeEntry) error {
		if list.leftOut(f) {
			return nil
		}
		return d.packFile(ctx, f, into)
	})
	if err == nil {
		err = into.Close()
	}
	if err == nil {
		err = buffered.Flush()
	}
	return err
}

// A zip file has all names once more at its end, which are held until then:
// zipEntryBytes for each beside the name, mostZipBytes in all.
const (
	zipEntryBytes = 256
	mostZipBytes  = 32 << 20
)

// holdNames takes memory for the names of a zip file.
func (d *download) holdNames(list *listing) error {
	bytes := int64(list.entries)*zipEntryBytes + list.nameBytes
	if bytes > mostZipBytes {
		return tooLarge("there are too many files for a zip file: ask for format=tar")
	}
	if !d.work.Grow(bytes) {
		return httpapi.Busy(d, errNoRoom)
	}
	return nil
}

var errNoRoom = errors.New("no memory for the names of a zip file")

// attachment is the header of a file to keep. The word is capitalised, as some
// clients expect it.
func attachment(name string) string {
	return "A" + strings.TrimPrefix(mime.FormatMediaType("attachment", map[string]string{"filename": name}), "a")
}

// maxFileName is how many bytes of a file's name are proposed to keep it as, and
// keptOfEnd how many of those are from its end. Most file systems have 255.
const (
	maxFileName = 200
	keptOfEnd   = 50
)

// fileName is the name that a file is kept as. What it cannot have everywhere, or what
// shows it as another, is left out of it.
func fileName(at string) string {
	name := path.Base(at)
	if len(name) > maxFileName {
		name = name[:maxFileName-keptOfEnd] + name[len(name)-keptOfEnd:]
	}
	return strings.Map(func(r rune) rune {
		if deceptive(r) || r == '\t' || r == utf8.RuneError {
			return '_'
		}
		return r
	}, harmless(name))
}

// takeArchive waits for its turn.
func (e *Endpoint) takeArchive(ctx context.Context, d *download) (release func(), err error) {
	d.rest()
	within, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	grant, err := e.archives.Acquire(within, d.client, 1)
	if err != nil {
		return nil, httpapi.Busy(d, err)
	}
	return grant.Release, nil
}

// maxLinkBytes is the longest target of a symbolic link; paths are shorter.
const maxLinkBytes = 64 << 10

func (d *download) packFile(ctx context.Context, f git.TreeEntry, into archive) error {
	name := harmless(f.Path)
	if f.Mode == git.ModeSubmodule {
		return into.dir(name)
	}
	content, err := d.fetch(ctx, f.OID, f.Size)
	if err != nil {
		return fmt.Errorf("%q: %w", f.Path, err)
	}
	defer content.Close()
	if f.Mode == git.ModeSymlink {
		link, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		target, _, _ := strings.Cut(string(link), "\x00") // as a system would read it
		return into.link(name, target)
	}
	mode := fs.FileMode(0o644)
	if f.Mode == git.ModeExecutable {
		mode = 0o755
	}
	out, err := into.file(name, mode, f.Size)
	if err == nil {
		_, err = io.Copy(out, content)
	}
	return err
}

// harmless returns a path that leads nowhere but below where an archive is
// unpacked. git makes no others, but keeps them: what would lead out is written
// as in URLs.
func harmless(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		switch {
		case part == "":
			parts[i] = "%"
		case part == "." || part == "..":
			parts[i] = strings.ReplaceAll(part, ".", "%2E")
		default:
			parts[i] = foreign.Replace(part)
		}
	}
	return strings.Join(parts, "/")
}

// foreign are what has a meaning in the paths of other systems.
var foreign = strings.NewReplacer(`\`, "%5C", ":", "%3A")

func newArchive(format string, w io.Writer, commit string, when time.Time) archive {
	if format == "zip" {
		z := zip.NewWriter(w)
		z.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
		return &zipArchive{z, commit, when}
	}
	return &tarArchive{Writer: tar.NewWriter(w), commit: commit, when: when}
}

// zipArchive is a zip file whose comment is the commit, as that of git is.
type zipArchive struct {
	*zip.Writer
	commit string
	when   time.Time
}

func (z *zipArchive) file(name string, mode fs.FileMode, size int64) (io.Writer, error) {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.when}
	if size == 0 {
		h.Method = zip.Store
	}
	h.SetMode(mode)
	return z.CreateHeader(h)
}

func (z *zipArchive) link(name, target string) error {
	w, err := z.file(name, fs.ModeSymlink|0o777, 0)
	if err == nil {
		_, err = io.WriteString(w, target)
	}
	return err
}

func (z *zipArchive) dir(name string) error {
	_, err := z.file(name+"/", fs.ModeDir|0o755, 0)
	return err
}

func (z *zipArchive) Close() error {
	return errors.Join(z.SetComment(z.commit), z.Writer.Close())
}

// tarArchive is a tar file that begins with the commit, as that of git does.
type tarArchive struct {
	*tar.Writer
	commit string
	when   time.Time
	begun  bool
}

func (t *tarArchive) header(h *tar.Header) error {
	if !t.begun {
		t.begun = true
		global := &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": t.commit}}
		if err := t.WriteHeader(global); err != nil {
			return err
		}
	}
	h.ModTime = t.when
	return t.WriteHeader(h)
}

func (t *tarArchive) file(name string, mode fs.FileMode, size int64) (io.Writer, error) {
	return t.Writer, t.header(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: size})
}

func (t *tarArchive) link(name, target string) error {
	return t.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777})
}

func (t *tarArchive) dir(name string) error {
	return t.header(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
}
