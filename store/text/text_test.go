package text_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/store/text"
)

func utf16Bytes(order binary.AppendByteOrder, s string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

func utf32Bytes(order binary.AppendByteOrder, s string) string {
	var out []byte
	for _, r := range s {
		out = order.AppendUint32(out, uint32(r))
	}
	return string(out)
}

func TestDecodeUnicode(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	const mixed = "int größe; // 日本語 😀\r\n"
	tests := []struct {
		name, data, want, encoding string
	}{
		// UTF-8 goes through, line ends and all.
		{"empty", "", "", text.UTF8},
		{"ascii", "a\r\nb\n", "a\r\nb\n", text.UTF8},
		{"utf-8", mixed, mixed, text.UTF8},
		{"mark", "\xef\xbb\xbf" + mixed, mixed, text.UTF8BOM},
		{"mark alone", "\xef\xbb\xbf", "", text.UTF8BOM},
		{"two marks", "\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa", text.UTF8BOM},
		// UTF-8 with damage stays as it is.
		{"one broken byte", mixed + "\xff" + mixed, mixed + "\xff" + mixed, text.UTF8Invalid},
		{"cut short", mixed + "\xe6\x97", mixed + "\xe6\x97", text.UTF8Invalid},
		{"a latin-1 line among utf-8", "é\xe9\né\n", "é\xe9\né\n", text.UTF8Invalid},
		{"mark and damage", "\xef\xbb\xbfa\xff", "a\xff", text.UTF8Invalid},
		// UTF-16 and UTF-32 with a mark.
		{"utf-16le", "\xff\xfe" + utf16Bytes(le, mixed), mixed, text.UTF16LE},
		{"utf-16be", "\xfe\xff" + utf16Bytes(be, mixed), mixed, text.UTF16BE},
		{"utf-16le mark alone", "\xff\xfe", "", text.UTF16LE},
		{"utf-16le without ascii", "\xff\xfe" + utf16Bytes(le, "日本語"), "日本語", text.UTF16LE},
		{"utf-16le of odd length", "\xff\xfe" + utf16Bytes(le, mixed) + "a", mixed, text.UTF16LE},
		{"utf-16le with half a pair", "\xff\xfe" + "\x3d\xd8" + utf16Bytes(le, "ab"), "\uFFFDab", text.UTF16LE},
		{"utf-32le", "\xff\xfe\x00\x00" + utf32Bytes(le, mixed), mixed, text.UTF32LE},
		{"utf-32be", "\x00\x00\xfe\xff" + utf32Bytes(be, mixed), mixed, text.UTF32BE},
		// UTF-16 without one.
		{"bare utf-16le", utf16Bytes(le, mixed), mixed, text.UTF16LE},
		{"bare utf-16be", utf16Bytes(be, mixed), mixed, text.UTF16BE},
		{"bare utf-16le, little ascii", utf16Bytes(le, "日本語の文字列です\n日本語の\n"), "日本語の文字列です\n日本語の\n", text.UTF16LE},
		// Control characters that text has.
		{"manual", "N\bNA\bAM\bME\bE\n", "N\bNA\bAM\bME\bE\n", text.UTF8},
		{"colours", "\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m", text.UTF8},
		{"a few", "some text with one \x01 in it, and one \x02", "some text with one \x01 in it, and one \x02", text.UTF8},
	}
	for _, test := range tests {
		got, reason := text.Decode([]byte(test.data))
		if reason != "" || string(got.Data) != test.want || got.Encoding != test.encoding {
			t.Errorf("%s: Decode(%q)\n got %q, %s, %q\nwant %q, %s", test.name, test.data, got.Data, got.Encoding, reason, test.want, test.encoding)
		}
	}
}

func TestDecodeBinary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(1 + random.IntN(255))
	}
	numbers := []byte{}
	for range 500 {
		numbers = binary.LittleEndian.AppendUint16(numbers, uint16(random.IntN(200)))
	}
	tests := []struct{ name, data string }{
		{"one nul", "text\x00text"},
		{"elf", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00"},
		{"png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10"},
		{"nuls", "\x00\x00\x00\x00"},
		{"nul behind a utf-8 mark", "\xef\xbb\xbfa\x00"},
		{"nul in utf-16", "\xff\xfea\x00\x00\x00b\x00"},
		{"16-bit numbers", string(numbers)},
		{"noise without nul", string(noise)},
		{"control characters", strings.Repeat("\x01\x02\x03a", 20)},
		{"not utf-32 after all", "\x00\x00\xfe\xff\xff\xff\xff\xff"},
	}
	for _, test := range tests {
		got, reason := text.Decode([]byte(test.data))
		if reason != text.ReasonBinary || got.Data != nil {
			t.Errorf("%s: Decode(%.40q) = %.40q, %s, %q; want binary", test.name, test.data, got.Data, got.Encoding, reason)
		}
	}
}

func TestDecodeSharesBytes(t *testing.T) {
	for _, data := range []string{"plain", "größe", "größe \xff größe", "\xef\xbb\xbfmarked"} {
		raw := []byte(data)
		got, _ := text.Decode(raw)
		if got.Transcoded() || &got.Data[len(got.Data)-1] != &raw[len(raw)-1] {
			t.Errorf("Decode(%q) copied the content", data)
		}
	}
	allocs := testing.AllocsPerRun(100, func() { text.Decode([]byte("package main\n")) })
	if allocs > 1 { // the conversion above
		t.Errorf("Decode of ASCII allocates %.0f times", allocs)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "a", "\xff\xfe", "\xff\xfea\x00", "\xfe\xff\x00a", "\xff\xfe\x00\x00a\x00\x00\x00", "\xef\xbb\xbfa",
		"a\x00b\x00", "\xe9t\xe9", "\x82\xa0\x82\xa2", "\xa4\xa2\xa4\xa4", "\xd0\xc5", "\x81\x308\xff", "\x8e\xa1\x8f", "\xd8\x00\xdc"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		got, reason := text.Decode(data)
		if !bytes.Equal(data, before) {
			t.Fatalf("Decode(%q) changed its input", before)
		}
		if reason != "" {
			if reason != text.ReasonBinary || got.Data != nil || got.Encoding != "" {
				t.Fatalf("Decode(%q) = %v, %q", data, got, reason)
			}
			return
		}
		if got.Encoding != text.UTF8Invalid && !utf8.Valid(got.Data) {
			t.Errorf("Decode(%q) = %q, %s, which is no UTF-8", data, got.Data, got.Encoding)
		}
		if got.Transcoded() == bytes.HasSuffix(data, got.Data) && len(got.Data) > 0 && !isASCII(got.Data) {
			t.Errorf("Decode(%q) = %q, %s; transcoded is %v", data, got.Data, got.Encoding, got.Transcoded())
		}
		if isASCII(data) && (got.Encoding != text.UTF8 && got.Encoding != text.UTF16LE && got.Encoding != text.UTF16BE) {
			t.Errorf("Decode(%q), which is ASCII, says %s", data, got.Encoding)
		}
		if isASCII(data) && bytes.IndexByte(data, 0) < 0 && !bytes.Equal(got.Data, data) {
			t.Errorf("Decode(%q), which is ASCII, gives %q", data, got.Data)
		}
	})
}

func isASCII(data []byte) bool {
	for _, c := range data {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func BenchmarkDecode(b *testing.B) {
	line := "\tif (ret < 0)\n\t\treturn -EINVAL; /* not much to do here */\n"
	for name, data := range map[string][]byte{
		"ascii":        []byte(strings.Repeat(line, 1000)),
		"utf-8":        []byte(strings.Repeat(line+"// größe\n", 1000)),
		"utf-16":       []byte("\xff\xfe" + utf16Bytes(binary.LittleEndian, strings.Repeat(line, 1000))),
		"windows-1252": []byte(strings.Repeat(line+"// gr\xf6\xdfe\n", 1000)),
	} {
		b.Run("encoding="+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for range b.N {
				text.Decode(data)
			}
		})
	}
}
