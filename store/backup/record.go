package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
)

// Record is the record of a data directory's backups. It is kept beside the
// index and not in it, so that it can be read while the index is open
// elsewhere; it is no part of a backup.
type Record struct {
	// Last is the last attempt, LastGood the last that made a backup; they are
	// the same unless the last one went wrong, and nil before the first.
	Last, LastGood *Run
}

// Run is one attempt to make a backup.
type Run struct {
	// Started is when it began.
	Started time.Time `json:"started"`
	// Destination is where to, without secrets.
	Destination string `json:"destination"`
	// Backup is the ID of the backup that was made, "" if none was.
	Backup string `json:"backup,omitempty"`
	// Bytes is the size of all files in it, SentBytes what had to be sent.
	Bytes     int64 `json:"bytes"`
	SentBytes int64 `json:"sentBytes"`
	// TookMillis is how long it took.
	TookMillis int64 `json:"tookMillis"`
	// Error is why no backup was made, "" if one was.
	Error string `json:"error,omitempty"`
}

// stateDir is the folder of a data directory with what is known about backups;
// recordFile stands in it.
const (
	stateDir   = "backup"
	recordFile = "record.json"
)

// recordVersion numbers the layouts of a Record on disk.
const recordVersion = 1

type storedRecord struct {
	Version  int  `json:"version"`
	Last     *Run `json:"last,omitempty"`
	LastGood *Run `json:"lastGood,omitempty"`
}

// maxStateBytes bounds what is read of the state folder in one piece.
const maxStateBytes = 64 << 20

// LastRun returns the record of backups in the data directory dir; both fields
// are nil if there were none.
func LastRun(fs disk.FS, dir string) (Record, error) {
	data, err := disk.ReadFile(fs, fs.PathJoin(dir, stateDir, recordFile), maxStateBytes)
	if errors.Is(err, os.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, fmt.Errorf("read record of backups: %w", err)
	}
	var r storedRecord
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("read record of backups: %w: %w", store.ErrCorrupt, err)
	}
	if r.Version != recordVersion {
		return Record{}, nil // another program's; the next run writes it anew
	}
	return Record{r.Last, r.LastGood}, nil
}

// Note adds a run to the record of the data directory dir.
func Note(fs disk.FS, dir string, run Run) error {
	// A record that cannot be read is replaced: it is only about the past.
	r, _ := LastRun(fs, dir)
	out := storedRecord{recordVersion, &run, r.LastGood}
	if run.Error == "" {
		out.LastGood = &run
	}
	data, err := json.Marshal(out)
	if err == nil {
		err = writeFile(fs, fs.PathJoin(dir, stateDir), recordFile, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write record of backups: %w", err)
	}
	return nil
}

// temporary is what names of files begin with that are not whole yet.
const temporary = "tmp-"

// writeFile puts a file into the folder dir, whole or not at all.
func writeFile(fs disk.FS, dir, name string, data []byte) error {
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return disk.Replace(fs, fs.PathJoin(dir, name), fs.PathJoin(dir, temporary+name), data)
}

// writeCategory is what the engine's file system counts our writes as.
const writeCategory = "backup"
