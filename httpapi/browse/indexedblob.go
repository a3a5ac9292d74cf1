package browse

import (
	"errors"
	"net/http"
	"path"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
)

const onlyIndexed = "The git repository behind this one cannot be found: this is the text that was indexed. Its history, its other revisions and its directories cannot be shown."

// indexedBlob shows a file whose git repository is gone, as it was searched. The
// error is for what the index does not hold.
func (e *Endpoint) indexedBlob(r *http.Request, p *place, gone error) (a answer, err error) {
	if p.commit != p.rec.Commit() {
		return answer{}, gone
	}
	sn := p.st.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	rec, err := sn.Repository(p.rec.Name)
	if err != nil || rec.Commit() != p.commit {
		return answer{}, errors.Join(gone, err)
	}
	runs, err := code.Runs(sn, rec)
	if err != nil {
		return answer{}, err
	}
	for _, run := range runs {
		i, ok := run.Find(p.path)
		if !ok || run.Table.Reason[i] != store.Searchable || run.Table.TextBytes[i] > maxShownBytes {
			continue
		}
		size := int64(run.Table.TextBytes[i])
		httpapi.WorkOf(r.Context()).Shrink(min(blobHolds, 4<<20+2*size))
		content, err := code.Text(run.View, run.Table, i)
		if err != nil {
			return answer{}, err
		}
		data := blobData{head: p.head(), Name: shown(path.Base(p.path)), Bytes: int(run.Table.FileBytes[i]), Permalink: code.BlobURL(p.rec.Name, p.commit, p.path), Missing: onlyIndexed}
		e.fill(r, p, &data, content)
		return answer{page: "blob.html", data: data}, nil
	}
	return answer{}, gone
}
