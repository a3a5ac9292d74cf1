package runs

import (
	"context"
	"path"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// askedFolder has an object for each run that a node has found missing or damaged.
const askedFolder = "asked"

func askedName(f shard.File) string { return path.Join(askedFolder, path.Base(Name(f))) }

// Ask asks the other nodes to store a run again.
func (r *Runs) Ask(ctx context.Context, f shard.File) error {
	return r.objects.Put(ctx, askedName(f), []byte("missing or damaged"))
}

// Asked returns the runs that nodes have asked for, without their sizes.
func (r *Runs) Asked(ctx context.Context) (files []shard.File, err error) {
	err = r.objects.List(ctx, askedFolder, func(it object.Info) error {
		if f, ok := Parse(path.Join(folder, path.Base(it.Name))); ok {
			files = append(files, f)
		}
		return nil
	})
	return files, err
}

// Answered says that a run was stored again.
func (r *Runs) Answered(ctx context.Context, f shard.File) error {
	return r.objects.Delete(ctx, askedName(f))
}
