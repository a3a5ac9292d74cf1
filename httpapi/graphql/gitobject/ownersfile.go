package gitobject

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store"
)

// OwnersFile is the type CodeownersIngestedFile.
type OwnersFile struct {
	repo *Repository
	// read returns the record, which is read once, when it is asked for.
	read func() (*store.OwnersFile, error)
}

func (r *Repository) ownersFile() *OwnersFile {
	return &OwnersFile{r, sync.OnceValues(func() (*store.OwnersFile, error) {
		file, err := r.s.Snapshot().OwnersFile(r.rec.ID)
		if err != nil {
			return nil, err
		}
		return file, r.s.Read(len(file.Text))
	})}
}

// Repository is what the file is for.
func (f *OwnersFile) Repository() *Repository { return f.repo }

// Contents is the text, as it was uploaded.
func (f *OwnersFile) Contents() (string, error) {
	file, err := f.read()
	if err != nil {
		return "", err
	}
	return file.Text, f.repo.s.Show([]byte(file.Text))
}

// CreatedAt is when a file was first uploaded.
func (f *OwnersFile) CreatedAt() (wire.DateTime, error) {
	file, err := f.read()
	if err != nil {
		return wire.DateTime{}, err
	}
	return wire.DateTime{Time: file.Created}, nil
}

// UpdatedAt is when this one was.
func (f *OwnersFile) UpdatedAt() (wire.DateTime, error) {
	file, err := f.read()
	if err != nil {
		return wire.DateTime{}, err
	}
	return wire.DateTime{Time: file.Updated}, nil
}

// IngestedCodeowners is null for a repository that no file was uploaded for.
func (r *Repository) IngestedCodeowners() (*OwnersFile, error) {
	f := r.ownersFile()
	if _, err := f.read(); errors.Is(err, store.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return f, nil
}

// OwnersFiles returns the files of the repositories that can be seen, by name.
func (s *Session) OwnersFiles() (out []*OwnersFile, err error) {
	out = []*OwnersFile{}
	err = s.Snapshot().EachOwnersFile(func(id uint32, _ func() (*store.OwnersFile, error)) error {
		if r := s.ByID(id); r != nil {
			out = append(out, s.Repository(r).ownersFile())
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *OwnersFile) int { return strings.Compare(a.repo.rec.Name, b.repo.rec.Name) })
	return out, err
}
