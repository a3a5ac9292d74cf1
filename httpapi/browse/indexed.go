package browse

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

const (
	onlyIndexed = "The git repository behind this one cannot be found: this is what was indexed. Its history, its other revisions and archives cannot be shown."
	notFetched  = "The git repository behind this one is still being fetched: this is what was indexed. Its history, its other revisions and archives can be shown once it is here."
)

// missing says what cannot be shown, "" if git has all.
func (p *target) missing() string {
	if p.gone == nil {
		return ""
	}
	if errors.Is(p.gone, store.ErrFetching) {
		return notFetched
	}
	return onlyIndexed
}

// indexed calls f with the documents of the commit that is shown, while they can
// be read. It returns p.gone if the index has another commit.
func (p *target) indexed(f func([]code.DocumentRun) error) (err error) {
	sn := p.st.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	rec, err := sn.Repository(p.rec.Name)
	if err != nil || rec.Commit() != p.commit {
		return errors.Join(p.gone, hideMissing(err))
	}
	runs, err := code.Runs(sn, rec)
	if err != nil {
		return err
	}
	return f(runs)
}

// indexedDocument calls f with the document at the path, or returns p.gone.
func (p *target) indexedDocument(f func(r *code.DocumentRun, i int) error) error {
	return p.indexed(func(runs []code.DocumentRun) error {
		if r, i := code.FindIn(runs, p.path); r != nil {
			return f(r, i)
		}
		return p.gone
	})
}

// eachEntry calls f with the entries of the directory at the path, in git's order.
// f returns false for no more of them.
func (p *target) eachEntry(ctx context.Context, dir git.Entry, f func(git.Entry) bool) error {
	if p.gone == nil {
		return p.code.EachEntry(ctx, dir.OID, f)
	}
	if p.entries == nil {
		err := p.indexed(func(runs []code.DocumentRun) (err error) {
			p.entries, err = code.EntriesIn(runs, p.path, httpapi.WorkOf(ctx).Grow)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, e := range p.entries {
		if !f(e) {
			break
		}
	}
	return nil
}

// object reads the file at the path, with the errors of git.ObjectReader. From
// the index it reads the text, with the size of the file.
func (p *target) object(ctx context.Context, file git.Entry, maxBytes int64) (o git.Object, err error) {
	if p.gone == nil {
		return p.code.Object(ctx, file.OID, maxBytes)
	}
	err = p.indexedDocument(func(r *code.DocumentRun, i int) (err error) {
		o.OID, o.Size = file.OID, int64(r.Table.FileBytes[i])
		switch {
		case r.Table.Reason[i] != shard.Searchable:
			return p.gone
		case int64(r.Table.TextBytes[i]) > maxBytes:
			return git.ErrTooLarge
		}
		o.Data, err = code.Text(r.View, r.Table, i)
		return err
	})
	return o, err
}

// serveIndexed answers with the bytes of a file as the index has them.
func (e *Endpoint) serveIndexed(w http.ResponseWriter, r *http.Request, p *target) error {
	d := e.newDownload(w, r, p)
	size, content, err := d.fetchIndexed(r.Context(), r.Method == http.MethodHead)
	if errors.Is(err, code.ErrNotIndexed) {
		err = p.gone
	}
	if err != nil {
		return d.end(err)
	}
	defer content.Close()
	return d.sendFile(r, size, content)
}

// fetchIndexed reads the file at the path from the index, to its end. A file that
// only its size is wanted of is read all the same: the index may not have its bytes.
func (d *download) fetchIndexed(ctx context.Context, sizeOnly bool) (size int64, content io.ReadCloser, err error) {
	err = d.place.indexedDocument(func(r *code.DocumentRun, i int) error {
		size = int64(r.Table.FileBytes[i])
		if sizeOnly {
			content = http.NoBody
			return r.CopyFile(io.Discard, i)
		}
		if size <= smallBytes {
			var small bytes.Buffer
			content = io.NopCloser(&small)
			return r.CopyFile(&small, i)
		}
		f, err := d.spoolFile(ctx, size)
		if err != nil {
			return err
		}
		if err := r.CopyFile(f, i); err != nil {
			return errors.Join(err, f.Close())
		}
		content = spooled{f.Reader(), f}
		return nil
	})
	return size, content, err
}
