package backup

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FuzzKnown: whatever stands in what a data directory remembers of a
// destination, nothing panics, and no backup is made of objects that are not
// there in the size that was noted.
func FuzzKnown(f *testing.F) {
	const a, b = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
	for _, journal := range []string{"", a + " " + b + " 7 .\n", a + " " + b + " 7", a + " " + b + " -7 .\n" + b + " " + a + " 99999999999999999999 .\n", "\x00\n" + a + " " + a + " 7 .\r\n"} {
		for _, last := range []string{
			``, `{}`, `null`, `{"Body":{}}`, `{"objects":[{"name":"` + b + `","size":7}],"Body":{"files":[{"path":"FORMAT","size":7,"parts":[{"object":0,"length":7}]}]}}`,
			`{"encrypted":true,"objects":[{"name":"` + b + `","size":7}],"Body":{"plain":["` + a + `"],"files":[{"path":"FORMAT","size":7,"parts":[{"object":0,"length":7}]}]}}`,
			`{"encrypted":true,"objects":[{}],"Body":{"files":[{"path":"FORMAT","size":7,"parts":[{"object":-1,"length":7}]}]}}`,
		} {
			f.Add([]byte(journal), []byte(last))
		}
	}
	f.Fuzz(func(t *testing.T, journal, last []byte) {
		k := &known{fs: vfs.NewMem(), dir: "data", id: "x", present: map[string]int64{b: 7}, files: map[string]File{}, content: map[string]Object{}}
		for suffix, data := range map[string][]byte{journalSuffix: journal, lastSuffix: last} {
			if err := writeFile(k.fs, k.fs.PathJoin(k.dir, stateDir), k.id+suffix, data); err != nil {
				t.Fatal(err)
			}
		}
		if k.last = k.readLast(); k.last != nil {
			k.index()
		}
		k.readJournal()
		for content := range k.content {
			if o, ok := k.find(content); ok && o != (Object{b, 7}) {
				t.Errorf("content %s is said to be in %+v, which is not there", content, o)
			}
		}
		for _, file := range k.files {
			parts, ok := k.unchanged(file)
			for _, p := range parts {
				if o := k.last.Objects[p.Object]; ok && o != (Object{b, 7}) {
					t.Errorf("%q is said to have bytes in %+v, which is not there", file.Path, o)
				}
			}
		}
	})
}

// FuzzManifestName: a name is that of a backup only if the backup would have it.
func FuzzManifestName(f *testing.F) {
	for _, name := range []string{
		"manifests/20260102T030405.006Z-abc", "manifests/20260102T030405.006Z-", "manifests/20260102T030405Z-abc", "manifests/x/20260102T030405.006Z-abc",
		"manifests/20260102T030405,006Z-abc", "manifests//20260102T030405.006Z-abc", "20260102T030405.006Z-abc", "manifests/20260102T030405.0069Z-abc", "manifests/20260231T030405.006Z-abc", "",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b, ok := parseManifestName(name)
		h := Head{ID: b.ID, Created: b.Created}
		if ok && (b.name != name || h.name() != name) {
			t.Errorf("%q is taken for a backup that is called %q", name, h.name())
		}
	})
}
