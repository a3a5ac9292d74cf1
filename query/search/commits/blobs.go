package commits

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
	"github.com/trawlsearch/trawl/store/text"
)

// blobs reads files as the commits of a target left them, for file:has.content.
type blobs struct {
	target *target.Repository
	reader *git.BlobReader
	// of maps commit and path to the blob, for the commits at hand.
	of map[[2]string]string
}

const (
	// maxContentBytes is the largest file whose content is tried, as large as the
	// text that is indexed by default.
	maxContentBytes = 32 << 20
	// smallContentBytes is the largest that is read without asking for memory.
	smallContentBytes = shard.LargeTextBytes / contentCopies
	// contentCopies is how often a content is held at once: as git gave it, and
	// as text where that is another encoding.
	contentCopies = 2
)

// prepare finds the blobs of the commits of s, if they may be asked for. No slot
// is held.
func (w *worker) prepare(ctx context.Context, s *segment) error {
	if len(w.q.Content) == 0 {
		return nil
	}
	repo, err := w.task.Git.Open(ctx, s.target.Stored)
	if err != nil {
		return err
	}
	release, err := w.task.GitSlot(ctx)
	if err != nil {
		return err
	}
	defer release()
	if w.blobs == nil || w.blobs.target != s.target.Repository {
		w.blobs.close()
		w.blobs = nil
		reader, err := repo.Blobs(ctx)
		if err != nil {
			return err
		}
		w.blobs = &blobs{target: s.target.Repository, reader: reader}
	}
	w.blobs.of = map[[2]string]string{}
	oids := make([]string, len(s.items))
	for i, it := range s.items {
		if oids[i] = it.oid; it.oid == "" {
			oids[i] = hex.EncodeToString(it.shard.table.OID(int(it.commit)))
		}
	}
	return repo.Log(ctx, oids, git.LogOptions{MaxFiles: git.MaxCommitFiles}, func(c *git.Commit) error {
		for i := range c.Files {
			if f := &c.Files[i]; f.NewOID != "" && f.NewMode != git.ModeSubmodule {
				w.blobs.of[[2]string{c.OID, f.Path}] = f.NewOID
			}
		}
		return nil
	})
}

// content calls use with the text of a file as a commit left it, if there is
// any. Git reads without a slot, and what is large waits for memory first; use
// runs with a slot.
func (w *worker) content(ctx context.Context, commit, path string, use func(text []byte)) error {
	oid := w.blobs.of[[2]string{commit, path}]
	if oid == "" {
		return nil
	}
	w.at.Release()
	size, err := w.blobs.read(ctx, w, oid, smallContentBytes, use)
	if err == nil && size > 0 && size <= maxContentBytes {
		err = w.largeContent(ctx, oid, size, use)
	}
	if err != nil {
		return err
	}
	return w.at.Acquire(ctx)
}

// largeContent is content for a blob of so many bytes.
func (w *worker) largeContent(ctx context.Context, oid string, size int64, use func(text []byte)) error {
	give, err := w.task.Git.LargeText(ctx, contentCopies*size)
	if err != nil {
		return err
	}
	defer give()
	defer w.blobs.reader.Forget()
	_, err = w.blobs.read(ctx, w, oid, size, use)
	return err
}

// read calls use with the text of a blob of at most so many bytes. It returns
// the size of one that is larger, else 0.
func (b *blobs) read(ctx context.Context, w *worker, oid string, most int64, use func(text []byte)) (larger int64, err error) {
	err = b.reader.Read(ctx, []string{oid}, most, func(_ int, blob git.Blob) error {
		if errors.Is(blob.Err, git.ErrTooLarge) {
			larger = blob.Size
		}
		if blob.Err != nil {
			return nil
		}
		decoded, reason := text.Decode(blob.Data)
		if reason != "" {
			return nil
		}
		if err := w.at.Acquire(ctx); err != nil {
			return err
		}
		use(decoded.Data)
		return nil
	})
	return larger, err
}

func (b *blobs) close() {
	if b != nil {
		b.reader.Close()
	}
}
