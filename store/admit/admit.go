package admit

import (
	"encoding/hex"
	"errors"

	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/shard"
	"github.com/trawlsearch/trawl/store/text"
)

// Rules bound what is taken in.
type Rules struct {
	// MaxTextBytes is the size of a file up to which its text is searched.
	MaxTextBytes int64
}

// Document returns the document of a file in repository, and its searchable
// text. blob is the zero value for a submodule. The text may share blob's
// memory.
func (r Rules) Document(repository uint32, e git.TreeEntry, blob git.Blob) (shard.Document, []byte) {
	d := shard.Document{
		Repository: repository, Path: e.Path, OID: decodeOID(e.OID), Mode: e.Mode,
		FileBytes: uint32(min(blob.Size, 1<<32-1)),
	}
	if e.Mode == git.ModeSubmodule {
		d.Reason = shard.ReasonSubmodule
		return d, nil
	}
	switch {
	case errors.Is(blob.Err, git.ErrTooLarge):
		d.Reason = shard.ReasonTooLarge
	case errors.Is(blob.Err, git.ErrCorrupt):
		d.Reason = shard.ReasonCorrupt
	case blob.Err != nil:
		d.Reason = shard.ReasonMissing
	default:
		return r.content(d, blob.Data)
	}
	d.Language = lang.Detect(d.Path, nil)
	return d, nil
}

// content decides what of a file's content can be searched.
func (r Rules) content(d shard.Document, data []byte) (shard.Document, []byte) {
	decoded, reason := text.Decode(data)
	if reason != "" {
		d.Reason = shard.ReasonBinary
		d.Language = lang.Detect(d.Path, nil)
		return d, nil
	}
	if int64(len(decoded.Data)) > r.MaxTextBytes {
		d.Reason = shard.ReasonTooLarge
		return d, nil
	}
	d.Encoding = decoded.Encoding
	if d.Mode != git.ModeSymlink {
		d.Language = lang.Detect(d.Path, decoded.Data)
	}
	return d, decoded.Data
}

// Quality ranks a document by its path, 0 first: what people look for comes
// before tests and samples, vendored and generated files.
func Quality(path string) byte {
	switch {
	case lang.IsGenerated(path, nil):
		return 3
	case lang.IsVendored(path):
		return 2
	case lang.IsTest(path), lang.IsSample(path):
		return 1
	}
	return 0
}

// decodeOID returns the bytes of an object id of git's.
func decodeOID(oid string) []byte {
	out, err := hex.DecodeString(oid)
	if err != nil {
		panic("admit: git gave an object id that is not hex: " + oid)
	}
	return out
}
