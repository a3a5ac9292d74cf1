package runs

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/trawlsearch/trawl/store/object"
)

// ownerName is the object that says whose runs these are, in hex with a line end, and
// ownerBytes bounds it.
const (
	ownerName  = "cluster"
	ownerBytes = 1 << 10
)

// Belong fails with object.ErrNotOwned unless the runs are those of a cluster, which is called by a number that
// no other has. If nobody's runs are here yet, it makes them those of a cluster that has
// stored none: a folder that is not mounted, or the wrong bucket, would be taken for
// one that has lost everything, and runs of another cluster be swept.
func (r *Runs) Belong(ctx context.Context, cluster []byte, storedNone bool) error {
	owner := []byte(hex.EncodeToString(cluster) + "\n")
	got, err := r.objects.Get(ctx, ownerName, ownerBytes)
	switch {
	case errors.Is(err, os.ErrNotExist) && storedNone:
		if err := r.objects.Put(ctx, ownerName, bytes.Clone(owner)); err != nil {
			return err
		}
		return r.objects.Sync(ctx)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s has nothing of what this cluster has stored: mount the folder, or name the right one; "+
			"if all objects are lost, store one called %q with the line %s, and the nodes store theirs again", object.ErrNotOwned, r.objects, ownerName, owner[:len(owner)-1])
	case err != nil:
		return err
	case !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(owner)):
		return fmt.Errorf("%w: %s has those of another cluster: give each a folder or prefix of its own", object.ErrNotOwned, r.objects)
	}
	return nil
}
