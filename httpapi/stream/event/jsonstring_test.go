package event

import (
	"encoding/json"
	"strings"
	"testing"
)

func checkString(t *testing.T, s string) {
	t.Helper()
	want, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := appendString(nil, s); string(got) != string(want) {
		t.Errorf("string %q: got %s, want %s as by encoding/json", s, got, want)
	}
	if got := appendString([]byte("x"), []byte(s)); string(got) != "x"+string(want) {
		t.Errorf("bytes %q after x: got %s, want x%s", s, got, want)
	}
}

func TestAppendStringAgreesWithEncodingJSON(t *testing.T) {
	for c := range 0x100 {
		checkString(t, string([]byte{byte(c)}))
		checkString(t, "a"+string([]byte{byte(c)})+"b")
	}
	for _, s := range []string{
		"", "plain", `"quoted\"`, "<a href='x'>&amp;</a>", "½ cup", "日本", "\U0001f525", "\u2028\u2029\u202a",
		"\xff\xfe", "a\xe6\x97", "\xe6\x97\xa5\xe6", "\xed\xa0\x80", "\ufffd", "a\x00b\x1f\x7f", strings.Repeat("é<", 1000),
	} {
		checkString(t, s)
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("plain")
	f.Add("<\u2028\xff\n\t\b\f\r\x01\"\\>")
	f.Fuzz(checkString)
}

func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"open %q: %w\", name, err)\n\t}\n", 50)
	var dst []byte
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		dst = appendString(dst[:0], s)
	}
}
