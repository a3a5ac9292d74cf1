package backups

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/backup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBackupRefuses(t *testing.T) {
	r := open(t, nil, zerolog.Nop())
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(r.opts.Store.Dir(), link); err != nil {
		t.Fatal(err)
	}
	for destination, want := range map[string]string{
		filepath.Join(link, "deep/backups"):          "is in the data directory",
		filepath.Join(r.opts.Store.Dir(), "backups"): "is in the data directory",
		r.opts.Store.Dir():                           "is in the data directory",
		"relative":                                   "no absolute path",
		"ftp://me:secret@host/x":                     "write a path, or s3://bucket/prefix",
		"s3://me:secret@bucket/x":                    "an address holds no keys",
	} {
		_, err := r.Backup(t.Context(), admin.Backup{Destination: destination}, func(backup.Progress) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", destination, err, want)
		}
		record, rerr := r.LastBackup()
		if rerr != nil || record.Last == nil || record.Last.Error == "" || record.LastGood != nil {
			t.Fatalf("%s: the record is %+v, %v, want the error", destination, record, rerr)
		}
		if strings.Contains(record.Last.Destination+record.Last.Error, "secret") {
			t.Errorf("%s: the record shows %+v", destination, record.Last)
		}
	}
}
