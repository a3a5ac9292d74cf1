package backup

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/object"
)

// header describes a destination, in the file repository.
type header struct {
	// ID identifies the destination.
	ID string `json:"id"`
	// Encrypted says that all backups are.
	Encrypted bool `json:"encrypted,omitempty"`
}

// maxHeaderBytes bounds the file repository.
const maxHeaderBytes = 64 << 10

const headerKind = "repository"

// repository is a destination whose header was read, with what it takes to
// encrypt and decrypt.
type repository struct {
	header
	dest object.Store
	sealer
}

// openRepository reads the header and prepares the keys. It fails with
// ErrNoBackups if nothing was ever stored there.
func openRepository(ctx context.Context, dest object.Store, keys Keys) (*repository, error) {
	r := &repository{dest: dest}
	data, err := dest.Get(ctx, headerName, maxHeaderBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dest, ErrNoBackups)
	}
	if err != nil {
		return nil, err
	}
	payload, err := unseal(headerKind, headerName, data)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(payload, &r.header); err != nil {
		return nil, damaged(headerName, "%v", err)
	}
	if !backupName.MatchString(r.ID) {
		return nil, damaged(headerName, "%q is no ID", r.ID)
	}
	return r, r.useKeys(ctx, keys)
}

func (r *repository) useKeys(ctx context.Context, keys Keys) (err error) {
	if r.recipients, err = parseRecipients(keys.Recipients); err != nil {
		return err
	}
	if r.identities, err = parseIdentities(keys.Identities); err != nil {
		return err
	}
	if keys.Passphrase == "" || !r.Encrypted {
		return nil
	}
	// There is one, unless two runs made the repository at the same time.
	var names []string
	err = r.dest.List(ctx, keysFolder, func(s object.Info) error {
		if names = append(names, s.Name); len(names) > maxKeys {
			return fmt.Errorf("%s has more than %d keys", r.dest, maxKeys)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.Contains(names, path.Join(keysFolder, r.ID)) {
		return fmt.Errorf("%s was not made with a passphrase: give the identity, or recipients to make backups", r.dest)
	}
	for _, name := range names {
		if err := r.useKey(ctx, name, keys.Passphrase); err != nil {
			return err
		}
	}
	return nil
}

// maxKeys bounds how many keys are tried.
const maxKeys = 4

func (r *repository) useKey(ctx context.Context, name, passphrase string) error {
	data, err := r.dest.Get(ctx, name, maxKeyBytes)
	if err != nil {
		return err
	}
	id, err := openKey(name, passphrase, data)
	if err != nil {
		return err
	}
	if path.Base(name) == r.ID {
		r.recipients = append(r.recipients, id.Recipient())
	}
	r.identities = append(r.identities, id)
	return nil
}

// newID makes a name of a destination or backup.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

// openForCreate opens a repository to make backups in, or makes one. It is
// encrypted or not for good.
func openForCreate(ctx context.Context, dest object.Store, keys Keys, t timing) (*repository, error) {
	r, err := openRepository(ctx, dest, keys)
	switch {
	case errors.Is(err, ErrNoBackups):
		return initRepository(ctx, dest, keys, t)
	case err != nil:
		return nil, err
	case r.Encrypted && len(r.recipients) == 0:
		return nil, fmt.Errorf("the backups in %s are encrypted: give recipients or the passphrase, or use another destination", dest)
	case !r.Encrypted && keys.Encrypts():
		return nil, fmt.Errorf("the backups in %s are not encrypted: leave out recipients and passphrase, or use another destination", dest)
	}
	return r, nil
}

// initRepository makes a repository. The key comes first: without a header it
// means nothing. If another process makes one at the same time, the header that
// stays counts, and both have their key.
func initRepository(ctx context.Context, dest object.Store, keys Keys, t timing) (r *repository, err error) {
	r = &repository{dest: dest, header: header{ID: newID(), Encrypted: keys.Encrypts()}}
	// Recipients that cannot be read are refused before anything is stored.
	if r.recipients, err = parseRecipients(keys.Recipients); err != nil {
		return nil, err
	}
	if keys.Passphrase != "" {
		id, sealed, err := newKey(keys.Passphrase, t.scrypt)
		if err != nil {
			return nil, err
		}
		if err := dest.Put(ctx, path.Join(keysFolder, r.ID), sealed); err != nil {
			return nil, err
		}
		r.recipients, r.identities = append(r.recipients, id.Recipient()), append(r.identities, id)
	}
	payload, err := json.Marshal(r.header)
	if err != nil {
		return nil, fmt.Errorf("encode header: %w", err)
	}
	if err := dest.Sync(ctx); err != nil {
		return nil, err
	}
	if err := dest.Put(ctx, headerName, seal(headerKind, payload)); err != nil {
		return nil, err
	}
	return r, dest.Sync(ctx)
}

// encode returns content as it is stored, in buf if there is room.
func (r *repository) encode(buf, content []byte) ([]byte, error) {
	if !r.Encrypted {
		return content, nil
	}
	return r.encrypt(buf[:0], content)
}

// decode returns the content of an object, which was checked already.
func (r *repository) decode(name string, stored []byte) ([]byte, error) {
	if !r.Encrypted {
		return stored, nil
	}
	return r.decrypt(name, stored, partBytes)
}
