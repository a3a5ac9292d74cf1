package backup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/redact"
)

// Backup is an entry of a destination's list.
type Backup struct {
	// ID names the backup; Created is when it was begun.
	ID      string
	Created time.Time
	name    string
}

// parseManifestName reads TIME-ID.
func parseManifestName(name string) (Backup, bool) {
	at, id, ok := strings.Cut(path.Base(name), "-")
	created, err := time.Parse(timeLayout, at)
	b := Backup{ID: id, Created: created, name: name}
	// A time can be written in several ways, a backup in one.
	h := Head{ID: id, Created: created}
	return b, ok && err == nil && backupName.MatchString(id) && h.name() == name
}

// List returns the backups at a destination, the oldest first, without reading
// them. It fails with ErrNoBackups if nothing was ever stored there.
func List(ctx context.Context, dest object.Store) ([]Backup, error) {
	if _, err := openRepository(ctx, dest, Keys{}); err != nil {
		return nil, err
	}
	return listBackups(ctx, dest)
}

func listBackups(ctx context.Context, dest object.Store) ([]Backup, error) {
	var all []Backup
	err := dest.List(ctx, manifestsFolder, func(s object.Info) error {
		if b, ok := parseManifestName(s.Name); ok {
			all = append(all, b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Backup) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// Describe reads the manifest of a backup. Its Body is nil if that is encrypted
// and the keys hold no identity.
func Describe(ctx context.Context, dest object.Store, keys Keys, b Backup) (*Manifest, error) {
	r, err := openRepository(ctx, dest, keys)
	if err != nil {
		return nil, err
	}
	return r.manifest(ctx, b)
}

func (r *repository) manifest(ctx context.Context, b Backup) (*Manifest, error) {
	data, err := r.dest.Get(ctx, b.name, maxManifestBytes)
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(b.name, data, r.sealer)
	if err == nil && m.Encrypted != r.Encrypted {
		return nil, damaged(b.name, "it does not fit its repository")
	}
	return m, err
}

// Summary tells what a backup holds, as far as its manifest can be read.
type Summary struct {
	Backup
	// Encrypted says that the backup is, Readable that its files could be read
	// nevertheless, which Mirrors, Program, Files and Bytes count on.
	Encrypted, Readable, Mirrors bool
	Program                      string
	Files                        int
	Bytes                        int64
	// Objects are what the backup is made of, StoredBytes their size at the
	// destination, most of which it shares with others.
	Objects     int
	StoredBytes int64
	// Err is why the manifest could not be read, for people; everything else is zero then.
	Err error
}

// maxBriefBytes is how much of a text Brief keeps.
const maxBriefBytes = 500

// Brief is the beginning of a text that may quote what the destination has, without secrets
// of addresses. They are taken out first: of one that is cut, nothing tells any more.
func Brief(text string) string {
	text = strings.ToValidUTF8(redact.Text(text), "")
	if len(text) > maxBriefBytes {
		text = strings.ToValidUTF8(text[:maxBriefBytes], "") + "…"
	}
	return strings.Clone(text)
}

// Summarize reads what a backup holds.
func Summarize(ctx context.Context, dest object.Store, keys Keys, b Backup) Summary {
	out := Summary{Backup: b}
	m, err := Describe(ctx, dest, keys, b)
	if err != nil {
		out.Err = errors.New(Brief(err.Error()))
		return out
	}
	out.Encrypted, out.Objects, out.StoredBytes = m.Encrypted, len(m.Objects), m.StoredBytes()
	if m.Body != nil {
		out.Readable, out.Mirrors, out.Files, out.Bytes = true, m.Body.Mirrors, len(m.Body.Files), m.Body.Bytes()
		out.Program = Brief(m.Body.Program)
	}
	return out
}

// ErrNoSuchBackup is that of an ID that no backup has.
var ErrNoSuchBackup = errors.New("there is no such backup")

// choose returns the backup with an ID, the newest for "".
func choose(all []Backup, id string) (Backup, error) {
	if len(all) == 0 {
		return Backup{}, ErrNoBackups
	}
	if id == "" {
		return all[len(all)-1], nil
	}
	i := slices.IndexFunc(all, func(b Backup) bool { return b.ID == id })
	if i < 0 {
		return Backup{}, fmt.Errorf("backup %q: %w", id, ErrNoSuchBackup)
	}
	return all[i], nil
}
