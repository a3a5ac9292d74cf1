// Package text decides what of a file can be searched. The bytes of a file
// come in from store/ingest; out comes text in UTF-8, or the reason why there
// is none. Nothing is read or written here, and nothing is known of paths,
// repositories or size limits.
//
// Bytes that are UTF-8 go through untouched and uncopied, line ends included,
// so that offsets in the text are offsets in the file. So do bytes that are
// mostly UTF-8: a broken sequence stays as it is. UTF-16, UTF-32 and the legacy
// encodings of source files are turned into UTF-8.
//
// Telling legacy encodings apart is a guess from which characters a decoding
// yields. It errs towards Windows-1252, under which at least the ASCII part of
// any of them reads correctly. Encodings that shift by escape sequences, such
// as ISO-2022-JP, look like ASCII and are left as that.
package text
