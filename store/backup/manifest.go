package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes in bytes. An object holds partBytes of content, and with encryption
// what that adds: a header with every recipient and 16 bytes for each 64 KiB.
const (
	partBytes        = 4 << 20
	maxObjectBytes   = partBytes + 256<<10
	maxManifestBytes = 128 << 20
)

// Manifest is one backup.
type Manifest struct {
	Head
	// Body is the part that may be encrypted; nil if it cannot be read.
	Body *Body
}

// Head is what can be read without a key.
type Head struct {
	// ID names the backup.
	ID string `json:"id"`
	// Created is when it was begun, in UTC.
	Created time.Time `json:"created"`
	// Encrypted says that body and objects are.
	Encrypted bool `json:"encrypted,omitempty"`
	// Objects are all that the backup needs.
	Objects []Object `json:"objects"`
}

// Object is one at the destination: its name, which is the SHA-256 of what is
// stored, in hex, and its size.
type Object struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Body says how files are made of the objects.
type Body struct {
	// DataFormat is the format version of the data directory.
	DataFormat uint32 `json:"dataFormat"`
	// Program made the backup.
	Program string `json:"program,omitempty"`
	// Mirrors says that git mirrors are in it.
	Mirrors bool `json:"mirrors,omitempty"`
	// Files are all files, by path.
	Files []File `json:"files"`
	// Plain has the SHA-256 of each object's content, in the order of Objects;
	// nil if the objects are not encrypted.
	Plain []string `json:"plain,omitempty"`
}

// File is a file of the data directory.
type File struct {
	// Path has slashes and begins in the data directory.
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Modified is the time of its last change in Unix nanoseconds.
	Modified int64 `json:"modified"`
	// Parts follow one another.
	Parts []Part `json:"parts,omitempty"`
}

// A path that is not UTF-8, as that of a ref may be, stands in a field of its own
// too: JSON holds text only.
type rawPath struct {
	Raw []byte `json:"rawPath,omitempty"`
}

type plainFile File

// MarshalJSON implements json.Marshaler.
func (f File) MarshalJSON() ([]byte, error) {
	out := struct {
		plainFile
		rawPath
	}{plainFile: plainFile(f)}
	if !utf8.ValidString(f.Path) {
		out.Raw = []byte(f.Path)
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *File) UnmarshalJSON(data []byte) error {
	var in struct {
		plainFile
		rawPath
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*f = File(in.plainFile)
	if in.Raw != nil {
		f.Path = string(in.Raw)
	}
	return nil
}

// Part is a run of bytes of an object.
type Part struct {
	// Object is an index of Objects.
	Object int   `json:"object"`
	Offset int64 `json:"offset,omitempty"`
	Length int64 `json:"length"`
}

// Bytes returns the size of all files.
func (b *Body) Bytes() int64 {
	n := int64(0)
	for _, f := range b.Files {
		n += f.Size
	}
	return n
}

// StoredBytes returns the size of all objects.
func (h *Head) StoredBytes() int64 {
	n := int64(0)
	for _, o := range h.Objects {
		n += o.Size
	}
	return n
}

// timeLayout makes names of manifests that sort by time.
const timeLayout = "20060102T150405.000Z"

// name returns where the manifest is.
func (h *Head) name() string {
	return path.Join(manifestsFolder, h.Created.UTC().Format(timeLayout)+"-"+h.ID)
}

const manifestKind = "manifest"

// encode returns the manifest as it is stored.
func (m *Manifest) encode(s sealer) ([]byte, error) {
	head, err := json.Marshal(m.Head)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	body, err := json.Marshal(m.Body)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	payload := append(head, '\n')
	if m.Encrypted {
		payload, err = s.encrypt(payload, body)
	} else {
		payload = append(payload, body...)
	}
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	out := seal(manifestKind, payload)
	if len(out) > maxManifestBytes {
		return nil, fmt.Errorf("encode manifest: it has %d bytes, and %d can be", len(out), maxManifestBytes)
	}
	return out, nil
}

// decodeManifest reads what is stored under name, which may be anything. Body
// is nil if it is encrypted and s has no identity.
func decodeManifest(name string, data []byte, s sealer) (*Manifest, error) {
	payload, err := unseal(manifestKind, name, data)
	if err != nil {
		return nil, err
	}
	head, body, ok := bytes.Cut(payload, []byte("\n"))
	if !ok {
		return nil, damaged(name, "it has no body")
	}
	m := &Manifest{}
	if err := json.Unmarshal(head, &m.Head); err != nil {
		return nil, damaged(name, "%v", err)
	}
	if err := m.checkHead(name); err != nil {
		return nil, err
	}
	if m.Encrypted {
		if len(s.identities) == 0 {
			return m, nil
		}
		if body, err = s.decrypt(name, body, maxManifestBytes); err != nil {
			return nil, err
		}
	}
	m.Body = &Body{}
	if err := json.Unmarshal(body, m.Body); err != nil {
		return nil, damaged(name, "%v", err)
	}
	if err := m.checkBody(name); err != nil {
		return nil, err
	}
	return m, nil
}

var (
	sha256Hex  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	backupName = regexp.MustCompile(`^[a-z0-9]{1,32}$`)
)

func (m *Manifest) checkHead(name string) error {
	if !backupName.MatchString(m.ID) || m.name() != name {
		return damaged(name, "it is the backup %q of %s", m.ID, m.Created.Format(time.RFC3339))
	}
	for _, o := range m.Objects {
		if !sha256Hex.MatchString(o.Name) {
			return damaged(name, "%q is no name of an object", o.Name)
		}
		if o.Size < 1 || o.Size > maxObjectBytes {
			return damaged(name, "object %s has %d bytes", o.Name, o.Size)
		}
	}
	return nil
}

// checkBody makes sure that restoring the manifest writes files below the data
// directory only, each once and whole, from objects that are there.
func (m *Manifest) checkBody(name string) error {
	if m.Encrypted && len(m.Body.Plain) != len(m.Objects) {
		return damaged(name, "it has %d objects and %d hashes of content", len(m.Objects), len(m.Body.Plain))
	}
	for _, hash := range m.Body.Plain {
		if !sha256Hex.MatchString(hash) {
			return damaged(name, "%q is no hash", hash)
		}
	}
	seen := make(map[string]bool, len(m.Body.Files))
	folders := map[string]bool{}
	for _, f := range m.Body.Files {
		if err := checkPath(f.Path); err != nil {
			return damaged(name, "%v", err)
		}
		if seen[f.Path] {
			return damaged(name, "it has %q twice", f.Path)
		}
		seen[f.Path] = true
		for dir := path.Dir(f.Path); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
		if err := m.checkParts(f); err != nil {
			return damaged(name, "%q: %v", f.Path, err)
		}
	}
	for _, f := range m.Body.Files {
		if folders[f.Path] {
			return damaged(name, "%q is a file and a folder", f.Path)
		}
	}
	return nil
}

func (m *Manifest) checkParts(f File) error {
	left := f.Size
	for _, p := range f.Parts {
		if p.Object < 0 || p.Object >= len(m.Objects) {
			return fmt.Errorf("there is no object %d", p.Object)
		}
		most := int64(partBytes)
		if !m.Encrypted {
			most = m.Objects[p.Object].Size
		}
		if p.Offset < 0 || p.Length < 1 || p.Offset > most || p.Length > most-p.Offset {
			return fmt.Errorf("bytes %d to %d lie outside of their object", p.Offset, p.Offset+p.Length)
		}
		if p.Length > left {
			return fmt.Errorf("its parts are larger than its %d bytes", f.Size)
		}
		left -= p.Length
	}
	if left != 0 || f.Size < 0 || f.Size > maxFileBytes {
		return fmt.Errorf("its parts are not its %d bytes", f.Size)
	}
	return nil
}

// maxFileBytes bounds a file; it keeps sums of sizes from overflowing.
const maxFileBytes = 1 << 40

// maxPathBytes bounds a path in a backup. No system that trawl runs on has longer
// ones.
const maxPathBytes = 4096

// enginePath and mirrorPath are the paths that a backup can have beside FORMAT.
// Other files, such as hooks, are neither backed up nor restored. Files that
// alternates matches are left out too, since they would lead git out of the
// mirror.
var (
	alternates = regexp.MustCompile(`^mirrors/[0-9]+\.git/objects/info/alternates$`)
	enginePath = regexp.MustCompile(`^index/[A-Za-z0-9._-]+$`)
	mirrorPath = regexp.MustCompile(`^mirrors/[0-9]+\.git/(HEAD|config|packed-refs|shallow|refs/.+|reftable/(tables\.list|[0-9A-Za-z-]+\.ref)|objects/(pack|info|[0-9a-f]{2})/[A-Za-z0-9._-]+)$`)
)

// checkPath refuses what is no path of a data directory's file, and what would
// lead out of it.
func checkPath(p string) error {
	switch {
	case len(p) > maxPathBytes:
		return fmt.Errorf("a path has %d bytes", len(p))
	case p != "FORMAT" && !enginePath.MatchString(p) && !mirrorPath.MatchString(p):
		return fmt.Errorf("%q is no file of a data directory", p)
	case p == "index/LOCK" || alternates.MatchString(p):
		return fmt.Errorf("%q does not belong in a backup", p)
	}
	for step := range strings.SplitSeq(p, "/") {
		if step == "" || step == "." || step == ".." || strings.ContainsFunc(step, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
			return fmt.Errorf("%q is no path", p)
		}
	}
	return nil
}
