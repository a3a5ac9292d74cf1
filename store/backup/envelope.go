package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// formatVersion numbers the layouts of a destination and its manifests.
const formatVersion = 1

// An envelope is a line and a payload. The line is
//
//	trawl-backup KIND VERSION SHA256
//
// with the hash, in hex, of KIND, a space, VERSION, a newline and the payload.
// This line is the same in all versions, so that damage differs from a newer
// format.
const envelopeMagic = "trawl-backup"

// seal puts payload into an envelope.
func seal(kind string, payload []byte) []byte { return sealVersion(kind, formatVersion, payload) }

func sealVersion(kind string, version uint32, payload []byte) []byte {
	v := strconv.FormatUint(uint64(version), 10)
	head := fmt.Sprintf("%s %s %s %x\n", envelopeMagic, kind, v, envelopeHash(kind, v, payload))
	return append([]byte(head), payload...)
}

func envelopeHash(kind, version string, payload []byte) []byte {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s %s\n", kind, version) // a hash takes everything
	_, _ = h.Write(payload)
	return h.Sum(nil)
}

// unseal returns the payload of the file called name, which may hold anything.
// The error is a *DamagedError if the file is damaged, and a *FormatError if a
// newer program sealed it.
func unseal(kind, name string, data []byte) ([]byte, error) {
	line, payload, ok := bytes.Cut(data, []byte("\n"))
	fields := strings.Split(string(line[:min(len(line), 200)]), " ")
	if !ok || len(fields) != 4 || fields[0] != envelopeMagic || fields[1] != kind {
		return nil, damaged(name, "it does not begin as a %s of trawl does", kind)
	}
	if hex.EncodeToString(envelopeHash(kind, fields[2], payload)) != fields[3] {
		return nil, damaged(name, "its content does not fit its checksum")
	}
	version, err := strconv.ParseUint(fields[2], 10, 32)
	if err != nil || version == 0 {
		return nil, damaged(name, "%q is no format version", fields[2])
	}
	if version > formatVersion {
		return nil, &FormatError{"the backup's " + kind, uint32(version), formatVersion}
	}
	return payload, nil
}
