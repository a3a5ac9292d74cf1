package text

import (
	"bytes"
	"unicode/utf8"
)

// The encodings that Decode distinguishes.
const (
	UTF8        = "utf-8" // ASCII too
	UTF8BOM     = "utf-8-bom"
	UTF8Invalid = "utf-8-invalid"
	UTF16LE     = "utf-16le"
	UTF16BE     = "utf-16be"
	UTF32LE     = "utf-32le"
	UTF32BE     = "utf-32be"
	Windows1252 = "windows-1252"
	Windows1251 = "windows-1251"
	KOI8R       = "koi8-r"
	ShiftJIS    = "shift_jis"
	EUCJP       = "euc-jp"
	EUCKR       = "euc-kr"
	GB18030     = "gb18030"
	Big5        = "big5"
)

// ReasonBinary is why content that is not text is not searched.
const ReasonBinary = "binary"

// Text is the searchable content of a file.
type Text struct {
	// Data is valid UTF-8 unless Encoding is UTF8Invalid. It shares its bytes
	// with the file's if Transcoded is false.
	Data []byte
	// Encoding is what the file is written in, one of the constants.
	Encoding string
}

// Transcoded reports that Data was converted, so that its offsets are not the
// file's.
func (t Text) Transcoded() bool {
	switch t.Encoding {
	case UTF8, UTF8BOM, UTF8Invalid, "":
		return false
	}
	return true
}

// utf8BOM is U+FEFF in UTF-8.
var utf8BOM = []byte("\xef\xbb\xbf")

// Decode returns the text of a file's content and an empty reason, or no text
// and ReasonBinary.
//
// A byte order mark is cut off, because otherwise ^ would not match before the
// first visible character: offsets in the text of a UTF-8 file with a mark are
// three less than in the file. Content is binary if it holds a NUL and is not UTF-16 or
// UTF-32, or if too many of its bytes are control characters.
func Decode(data []byte) (t Text, reason string) {
	if decoded, encoding, ok := decodeMarked(data); ok {
		return admit(decoded, encoding)
	}
	body := bytes.TrimPrefix(data, utf8BOM)
	encoding := UTF8
	if len(body) < len(data) {
		encoding = UTF8BOM
	}
	switch {
	case bytes.IndexByte(body, 0) >= 0:
		return decodeUnmarkedUTF16(data)
	case utf8.Valid(body):
		return admit(body, encoding)
	case mostlyUTF8(body) || encoding == UTF8BOM:
		return admit(body, UTF8Invalid)
	case tooManyControls(body, maxControls8Bit):
		return Text{}, ReasonBinary
	}
	return decodeLegacy(body), ""
}

// admit lets content through that reads like text.
func admit(data []byte, encoding string) (Text, string) {
	if tooManyControls(data, maxControls) {
		return Text{}, ReasonBinary
	}
	return Text{Data: data, Encoding: encoding}, ""
}

// mostlyUTF8 reports whether a text is damaged UTF-8, and not in a legacy
// encoding, where the sequences of UTF-8 occur only by accident. Files that mix
// encodings by line count as UTF-8 if half of the bytes beyond ASCII are.
func mostlyUTF8(data []byte) bool {
	valid, broken := 0, 0
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			data = data[1:]
			continue
		}
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			broken++
		} else {
			valid++
		}
		data = data[size:]
	}
	return valid >= broken
}
