package backup_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/object"
)

// forged makes a destination of whatever head and body say, with right
// checksums, and one object.
func forged(t testing.TB, head, body, content []byte) *object.Folder {
	t.Helper()
	dest := object.NewFolder(vfs.NewMem(), "forged")
	ctx := context.Background()
	name := nameOf(content)
	err := errors.Join(
		dest.Put(ctx, "repository", backup.Seal("repository", []byte(`{"id":"forged"}`))),
		dest.Put(ctx, manifestName, backup.Seal("manifest", bytes.Join([][]byte{head, body}, []byte("\n")))),
		dest.Put(ctx, path.Join("objects", name[:2], name), content),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dest
}

const manifestName = "manifests/20310203T040506.000Z-evil"

func nameOf(object []byte) string {
	sum := sha256.Sum256(object)
	return hex.EncodeToString(sum[:])
}

func headOf(object []byte) []byte {
	return fmt.Appendf(nil, `{"id":"evil","created":"2031-02-03T04:05:06Z","objects":[{"name":"%s","size":%d}]}`, nameOf(object), len(object))
}

// inside fails if a file system has anything but a folder named new.
func inside(t testing.TB, fs *vfs.MemFS) {
	t.Helper()
	names, err := fs.List("")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if n != "new" {
			t.Errorf("there is %q beside the data directory", n)
		}
	}
}

// A backup from elsewhere may say anything. What is no file of a data directory,
// and what leads out of one, is refused before anything is written.
func TestHostileManifests(t *testing.T) {
	object := []byte("content")
	file := func(path string) string {
		quoted, err := json.Marshal(path)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"path":%s,"size":7,"parts":[{"object":0,"length":7}]}`, quoted)
	}
	format := `{"path":"FORMAT","size":7,"parts":[{"object":0,"length":7}]}`
	for _, c := range []struct{ files, want string }{
		{format, ""},
		{file("index/000001.sst"), ""},
		{file("mirrors/7.git/refs/heads/a b/ü"), ""},

		// paths that lead elsewhere
		{file("../evil"), "no file of a data directory"},
		{file("/etc/passwd"), "no file of a data directory"},
		{file("index/../../evil"), "no file of a data directory"},
		{file("index/.."), "is no path"},
		{file("index/."), "is no path"},
		{file("mirrors/7.git/refs/../../../../evil"), "is no path"},
		{file("mirrors/7.git/refs//x"), "is no path"},
		{file(`mirrors/7.git/refs/..\..\evil`), "is no path"},
		{file("mirrors/7.git/refs/a\nb"), "no file of a data directory"},
		{file("mirrors/7.git/refs/a\x00b"), "is no path"},
		{file("mirrors/../index/x"), "no file of a data directory"},
		{file(""), "no file of a data directory"},
		{file("mirrors/7.git/refs/" + strings.Repeat("a", 5000)), "bytes"},

		// files that do not belong there
		{file("server.json"), "no file of a data directory"},
		{file("index/LOCK"), "does not belong in a backup"},
		{file("mirrors/7.git/hooks/post-update"), "no file of a data directory"},
		{file("mirrors/7.git/objects/info/alternates"), "does not belong in a backup"},
		{file("mirrors/7.git/worktrees/x/config"), "no file of a data directory"},
		{file("backup/record.json"), "no file of a data directory"},

		// files over one another
		{format + "," + format, "twice"},
		{file("mirrors/7.git/refs/a") + "," + file("mirrors/7.git/refs/a/b"), "a file and a folder"},

		// parts that are not there
		{`{"path":"FORMAT","size":7}`, "its parts are not its 7 bytes"},
		{`{"path":"FORMAT","size":-1}`, "its parts are not its -1 bytes"},
		{`{"path":"FORMAT","size":7,"parts":[{"object":1,"length":7}]}`, "there is no object 1"},
		{`{"path":"FORMAT","size":7,"parts":[{"object":-1,"length":7}]}`, "there is no object -1"},
		{`{"path":"FORMAT","size":7,"parts":[{"object":0,"length":8}]}`, "lie outside"},
		{`{"path":"FORMAT","size":7,"parts":[{"object":0,"offset":1,"length":7}]}`, "lie outside"},
		{`{"path":"FORMAT","size":7,"parts":[{"object":0,"offset":-1,"length":7}]}`, "lie outside"},
		{`{"path":"FORMAT","size":7,"parts":[{"object":0,"offset":9223372036854775807,"length":7}]}`, "lie outside"},
		{`{"path":"FORMAT","size":7,"parts":[{"object":0,"length":-7}]}`, "lie outside"},
		{`{"path":"FORMAT","size":3,"parts":[{"object":0,"length":7}]}`, "larger than its 3 bytes"},
		{`{"path":"FORMAT","size":9223372036854775807,"parts":[]}`, "its parts are not"},
	} {
		body := `{"dataFormat":1,"files":[` + c.files + `]}`
		fs := vfs.NewMem()
		_, err := backup.Restore(context.Background(), forged(t, headOf(object), []byte(body), object), fs, "new", backup.RestoreOptions{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%.200s: %v", c.files, err)
		case c.want != "" && (!errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.200s: got %v, want ErrCorrupt with %q", c.files, err, c.want)
		}
		inside(t, fs)
	}
}

// Neither do heads get away with anything.
func TestHostileHeads(t *testing.T) {
	object := []byte("content")
	good := string(headOf(object))
	for _, c := range []struct{ head, want string }{
		{strings.Replace(good, "evil", "other", 1), `the backup "other"`},
		{strings.Replace(good, "04:05:06", "04:05:07", 1), "it is the backup"},
		{strings.Replace(good, nameOf(object), "../../../etc/passwd", 1), "no name of an object"},
		{strings.Replace(good, nameOf(object), strings.ToUpper(nameOf(object)), 1), "no name of an object"},
		{strings.Replace(good, `"size":7`, `"size":0`, 1), "has 0 bytes"},
		{strings.Replace(good, `"size":7`, `"size":99999999999`, 1), "has 99999999999 bytes"},
		{strings.Replace(good, `"id"`, `"encrypted":true,"id"`, 1), "does not fit its repository"},
		{"", "unexpected end"},
		{"[]", "cannot unmarshal"},
	} {
		_, err := backup.Restore(context.Background(), forged(t, []byte(c.head), []byte(`{"dataFormat":1,"files":[]}`), object), vfs.NewMem(), "new", backup.RestoreOptions{})
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want ErrCorrupt with %q", c.head, err, c.want)
		}
	}
}

// A small backup can ask for more disk than there is.
func TestRestoreOfMoreThanFits(t *testing.T) {
	object := bytes.Repeat([]byte("x"), 1<<20)
	part := fmt.Sprintf(`{"object":0,"length":%d}`, len(object))
	body := fmt.Sprintf(`{"dataFormat":1,"files":[{"path":"index/x","size":%d,"parts":[%s]}]}`, 5000*len(object), strings.Repeat(part+",", 4999)+part)
	fs := vfs.NewMem()
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 2 << 30, UsedBytes: 1 << 30})
	begun := time.Now()
	_, err := backup.Restore(context.Background(), forged(t, headOf(object), []byte(body), object), fs, "new", backup.RestoreOptions{})
	if !errors.Is(err, store.ErrDiskFull) || !strings.Contains(err.Error(), "5000 MiB") {
		t.Errorf("after %v: got %v, want ErrDiskFull with 5000 MiB", time.Since(begun), err)
	}
	inside(t, fs)
}

// FuzzRestore: whatever stands in a backup, nothing panics, nothing is written
// beside the data directory, and what decodes encodes to the same meaning.
func FuzzRestore(f *testing.F) {
	object := []byte("content")
	for _, body := range []string{
		`{"dataFormat":1,"files":[{"path":"FORMAT","size":7,"parts":[{"object":0,"length":7}]}]}`,
		`{"dataFormat":1,"mirrors":true,"files":[{"path":"mirrors/1.git/HEAD","size":3,"parts":[{"object":0,"offset":1,"length":3}]},{"path":"mirrors/1.git/config","size":7,"parts":[{"object":0,"length":7}]}]}`,
		`{"dataFormat":1,"files":[{"path":"../x","size":0}]}`,
		`{"dataFormat":99,"files":null}`,
	} {
		f.Add(headOf(object), []byte(body), object)
	}
	f.Fuzz(func(t *testing.T, head, body, object []byte) {
		fs := vfs.NewMem()
		fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20, TotalBytes: 2 << 20, UsedBytes: 1 << 20})
		dest := forged(t, head, body, append(object, 'x')) // an object is never empty
		_, err := backup.Restore(context.Background(), dest, fs, "new", backup.RestoreOptions{})
		inside(t, fs)
		if err != nil && exists(fs, "new") {
			t.Errorf("there is something in spite of %v", err)
		}
		m, derr := backup.DecodeManifest(manifestName, backup.Seal("manifest", bytes.Join([][]byte{head, body}, []byte("\n"))))
		if derr != nil || m.Encrypted {
			return
		}
		again, eerr := m.Encode()
		if eerr != nil {
			t.Fatal(eerr)
		}
		if _, derr := backup.DecodeManifest(manifestName, again); derr != nil {
			t.Errorf("encoded again it is refused: %v", derr)
		}
	})
}

// FuzzDecode: bytes that are no manifest are never taken for one.
func FuzzDecode(f *testing.F) {
	object := []byte("content")
	whole := backup.Seal("manifest", append(append(headOf(object), '\n'), `{"dataFormat":1,"files":[]}`...))
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(backup.SealVersion("manifest", 2, []byte("new")))
	f.Add([]byte("trawl-backup manifest 1 \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := backup.DecodeManifest(manifestName, data)
		var newer *backup.FormatError
		if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.As(err, &newer) {
			t.Errorf("%q: got %v, want ErrCorrupt or a FormatError", data, err)
		}
		if err == nil && m.Name() != manifestName {
			t.Errorf("%q: it is %s", data, m.Name())
		}
	})
}
