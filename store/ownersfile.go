package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"
)

// RecordOwners has the CODEOWNERS file that was uploaded for a repository, by its ID in
// four bytes.
const RecordOwners RecordKind = 'O'

// OwnersFile is a CODEOWNERS file that a site admin has uploaded for a repository. It
// counts at all its revisions, in the place of those that the repository has.
type OwnersFile struct {
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

func ownersID(repository uint32) []byte { return binary.BigEndian.AppendUint32(nil, repository) }

func decodeOwners(id, value []byte) (*OwnersFile, error) {
	f := &OwnersFile{}
	if err := DecodeRecord(RecordOwners, id, value, f); err != nil {
		return nil, err
	}
	return f, nil
}

// OwnersFile returns the file that was uploaded for a repository, or an error that is
// ErrNotFound.
func (tx *Tx) OwnersFile(repository uint32) (*OwnersFile, error) {
	value, err := tx.Record(RecordOwners, ownersID(repository))
	if err != nil {
		return nil, err
	}
	return decodeOwners(ownersID(repository), value)
}

// PutOwnersFile puts a file in the place of the one that a repository has; nil takes that
// away.
func (tx *Tx) PutOwnersFile(repository uint32, f *OwnersFile) error {
	if f == nil {
		tx.Records.Delete(RecordOwners, ownersID(repository))
		return nil
	}
	value, err := json.Marshal(f)
	if err != nil {
		return err
	}
	tx.Records.Put(RecordOwners, ownersID(repository), value)
	return nil
}

// OwnersFile returns the file that was uploaded for a repository, or an error that is
// ErrNotFound.
func (sn *Snapshot) OwnersFile(repository uint32) (*OwnersFile, error) {
	value, err := sn.m.record(RecordOwners, ownersID(repository))
	if err != nil {
		return nil, err
	}
	return decodeOwners(ownersID(repository), value)
}

// EachOwnersFile calls f with the repositories that a file was uploaded for, ascending.
// read returns the file.
func (sn *Snapshot) EachOwnersFile(f func(repository uint32, read func() (*OwnersFile, error)) error) error {
	return sn.m.eachRecord(RecordRange{Kind: RecordOwners}, func(id, value []byte) (bool, error) {
		if len(id) != 4 {
			return true, nil // it is of no repository; VerifyRecords finds it
		}
		err := f(binary.BigEndian.Uint32(id), func() (*OwnersFile, error) { return decodeOwners(id, value) })
		return err == nil, err
	})
}

// faultyOwners judges the record of a file.
func faultyOwners(c *catalogue, id, value []byte) (problem string, stray bool) {
	if len(id) != 4 {
		return "owners of a repository whose number has a wrong length", true
	}
	repository := c.repository(binary.BigEndian.Uint32(id))
	if repository == nil {
		return fmt.Sprintf("owners of repository %d, which there is not", binary.BigEndian.Uint32(id)), true
	}
	if _, err := decodeOwners(id, value); err != nil {
		return fmt.Sprintf("owners of repository %q: %v", repository.Name, err), false
	}
	return "", false
}
