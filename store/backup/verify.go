package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/object"
)

// VerifyOptions say what is verified, and how. The zero value reads all
// backups.
type VerifyOptions struct {
	// Keys, if they hold an identity, let content be looked at. Without, what is
	// stored is compared with the hashes in the manifests.
	Keys Keys
	// Backups are IDs; none means all.
	Backups []string
	// DeleteDamaged removes manifests and objects that are damaged. The next
	// backup stores the content of these again, if it is still there.
	DeleteDamaged bool
	// Workers read at the same time, each an object; 0 is 2.
	Workers int
	// Report is as in Options.
	Report func(Progress)
}

// Verified is what Verify found.
type Verified struct {
	// Backups, Objects and Bytes are what was read.
	Backups, Objects int
	Bytes            int64
	// Decrypted says that content was looked at, or that nothing is encrypted.
	Decrypted bool
	// Damage is all that is wrong, by name; nothing is if it is empty.
	Damage []Damage
}

// Damage is a file at the destination that is damaged or missing.
type Damage struct {
	// Name is the file's, Why what is wrong.
	Name, Why string
	// Backups are the IDs of those that need it, Files what of them, as far as
	// that can be read.
	Backups []string
	Files   []string
	// Deleted says that it was removed.
	Deleted bool
}

// Verify reads every byte of backups. Damage is no error: an error is that
// something could not be read at all.
func Verify(ctx context.Context, dest object.Store, o VerifyOptions) (Verified, error) {
	out, err := verify(ctx, dest, o)
	if err != nil {
		return out, fmt.Errorf("verify %s: %w", dest, err)
	}
	return out, nil
}

func verify(ctx context.Context, dest object.Store, o VerifyOptions) (Verified, error) {
	r, err := openRepository(ctx, dest, o.Keys)
	if err != nil {
		return Verified{}, err
	}
	all, err := listBackups(ctx, dest)
	if err != nil {
		return Verified{}, err
	}
	if all, err = chosen(all, o.Backups); err != nil {
		return Verified{}, err
	}
	v := &verifying{VerifyOptions: o, repository: r, objects: map[Object]*wanted{}}
	v.out.Decrypted = !r.Encrypted || len(r.identities) > 0
	for _, b := range all {
		if err := v.addManifest(ctx, b); err != nil {
			return v.out, err
		}
	}
	return v.out, v.read(ctx)
}

func chosen(all []Backup, ids []string) ([]Backup, error) {
	if len(ids) == 0 {
		return all, nil
	}
	out := make([]Backup, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = choose(all, cmp.Or(id, "?")); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// verifying is a Verify at work.
type verifying struct {
	VerifyOptions
	*repository
	objects map[Object]*wanted
	total   int64

	mu  sync.Mutex // guards out and the calls of Report
	out Verified
}

// wanted is what needs an object.
type wanted struct {
	plain   string
	length  int64
	backups []string
	files   []string
}

// maxDamageFiles bounds the files that are named for one object.
const maxDamageFiles = 10

func (v *verifying) addManifest(ctx context.Context, b Backup) error {
	m, err := v.manifest(ctx, b)
	if errors.Is(err, store.ErrCorrupt) {
		if v.DeleteDamaged {
			if err := v.dest.Delete(ctx, b.name); err != nil {
				return err
			}
		}
		v.out.Damage = append(v.out.Damage, Damage{Name: b.name, Why: why(err), Backups: []string{b.ID}, Deleted: v.DeleteDamaged})
		return nil
	}
	if err != nil {
		return err
	}
	v.out.Backups++
	at := make([]*wanted, len(m.Objects))
	for i, o := range m.Objects {
		if v.objects[o] == nil {
			v.objects[o] = &wanted{}
			v.total += o.Size
		}
		at[i] = v.objects[o]
		at[i].backups = append(at[i].backups, m.ID)
		if m.Body != nil {
			at[i].plain = m.plain(i)
		}
	}
	if m.Body == nil {
		return nil
	}
	for _, f := range m.Body.Files {
		for _, p := range f.Parts {
			w := at[p.Object]
			w.length = max(w.length, p.Offset+p.Length)
			if len(w.files) < maxDamageFiles && !slices.Contains(w.files, f.Path) {
				w.files = append(w.files, f.Path)
			}
		}
	}
	return nil
}

// why is an error without the name that it is about.
func why(err error) string {
	var d *DamagedError
	if errors.As(err, &d) {
		return d.Why
	}
	return err.Error()
}

func (v *verifying) read(ctx context.Context) error {
	objects := make([]Object, 0, len(v.objects))
	for o := range v.objects {
		objects = append(objects, o)
	}
	slices.SortFunc(objects, func(a, b Object) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Size, b.Size)) })
	err := each(ctx, len(objects), cmp.Or(v.Workers, 2), func(ctx context.Context, i int) error {
		o := objects[i]
		w := v.objects[o]
		content, err := v.object(ctx, o, w.plain)
		if err == nil && content != nil && int64(len(content)) < w.length {
			err = damaged(objectPath(o.Name), "it holds %d bytes of %d", len(content), w.length)
		}
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			return err
		}
		return v.judge(ctx, o, w, err)
	})
	slices.SortFunc(v.out.Damage, func(a, b Damage) int { return cmp.Compare(a.Name, b.Name) })
	return err
}

// judge notes what became of an object.
func (v *verifying) judge(ctx context.Context, o Object, w *wanted, damage error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.out.Objects++
	v.out.Bytes += o.Size
	if v.Report != nil {
		v.Report(Progress{PhaseVerify, v.out.Bytes, v.total})
	}
	if damage == nil {
		return nil
	}
	d := Damage{Name: objectPath(o.Name), Why: why(damage), Backups: w.backups, Files: w.files}
	if v.DeleteDamaged {
		if err := v.dest.Delete(ctx, d.Name); err != nil {
			return err
		}
		d.Deleted = true
	}
	v.out.Damage = append(v.out.Damage, d)
	return nil
}
